package import CofferPropertyLists

/// The encoding of values in the journal: a type byte, then the content; strings, data and containers with their length.
enum ValueCoding {
  private enum Tag {
    static let no: UInt8 = 0
    static let yes: UInt8 = 1
    static let integer: UInt8 = 2
    static let unsigned: UInt8 = 3
    static let real: UInt8 = 4
    static let date: UInt8 = 5
    static let string: UInt8 = 6
    static let data: UInt8 = 7
    static let array: UInt8 = 8
    static let dictionary: UInt8 = 9
    static let uid: UInt8 = 10
  }

  /// The number of bytes that `append` adds. nil if the value has more levels than `PropertyList.maximumDepth`.
  static func byteCount(_ value: PropertyListValue, depth: Int = 0) -> Int? {
    switch value {
    case .boolean: return 1
    case .integer, .unsigned, .real, .date: return 9
    case .uid: return 5
    case .string(let text): return 5 + text.utf8.count
    case .data(let data): return 5 + data.count
    case .array(let elements):
      guard depth < PropertyList.maximumDepth else { return nil }
      var sum = 5
      for element in elements {
        guard let count = byteCount(element, depth: depth + 1) else { return nil }
        sum += count
      }
      return sum
    case .dictionary(let dictionary):
      guard depth < PropertyList.maximumDepth else { return nil }
      var sum = 5
      for (key, element) in dictionary.unsorted {
        guard let count = byteCount(element, depth: depth + 1) else { return nil }
        sum += 4 + key.utf8.count + count
      }
      return sum
    }
  }

  static func append(_ value: PropertyListValue, to bytes: inout [UInt8]) {
    switch value {
    case .boolean(let boolean): bytes.append(boolean ? Tag.yes : Tag.no)
    case .integer(let number):
      bytes.append(Tag.integer)
      bytes.append(number: number)
    case .unsigned(let number):
      bytes.append(Tag.unsigned)
      bytes.append(number: number)
    case .real(let number):
      bytes.append(Tag.real)
      bytes.append(number: number.bitPattern)
    case .date(let date):
      bytes.append(Tag.date)
      bytes.append(number: date.bitPattern)
    case .uid(let uid):
      bytes.append(Tag.uid)
      bytes.append(number: uid)
    case .string(let text):
      bytes.append(Tag.string)
      bytes.append(number: UInt32(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    case .data(let data):
      bytes.append(Tag.data)
      bytes.append(number: UInt32(data.count))
      bytes.append(contentsOf: data)
    case .array(let elements):
      bytes.append(Tag.array)
      bytes.append(number: UInt32(elements.count))
      for element in elements { append(element, to: &bytes) }
    case .dictionary(let dictionary):
      bytes.append(Tag.dictionary)
      bytes.append(number: UInt32(dictionary.count))
      for (key, element) in dictionary.sorted {
        bytes.append(number: UInt32(key.utf8.count))
        bytes.append(contentsOf: key.utf8)
        append(element, to: &bytes)
      }
    }
  }

  /// Returns nil if the bytes are not a value.
  static func read(_ reader: inout ByteReader, depth: Int = 0) -> PropertyListValue? {
    guard let tag = reader.number(UInt8.self) else { return nil }
    switch tag {
    case Tag.no: return .boolean(false)
    case Tag.yes: return .boolean(true)
    case Tag.integer: return reader.number(Int64.self).map { .integer($0) }
    case Tag.unsigned: return reader.number(UInt64.self).map { .number($0) }
    case Tag.real: return reader.number(UInt64.self).map { .real(Double(bitPattern: $0)) }
    case Tag.date: return reader.number(UInt64.self).map { .date(Double(bitPattern: $0)) }
    case Tag.uid: return reader.number(UInt32.self).map { .uid($0) }
    case Tag.string:
      guard let count = reader.number(UInt32.self), let text = reader.text(Int(count)) else { return nil }
      return .string(text)
    case Tag.data:
      guard let count = reader.number(UInt32.self), let data = unsafe reader.take(Int(count)) else { return nil }
      return unsafe .data(Array(data))
    case Tag.array:
      guard depth < PropertyList.maximumDepth, let count = reader.number(UInt32.self) else { return nil }
      var elements: [PropertyListValue] = []
      for _ in 0..<count {
        guard let element = read(&reader, depth: depth + 1) else { return nil }
        elements.append(element)
      }
      return .array(elements)
    case Tag.dictionary:
      guard depth < PropertyList.maximumDepth, let count = reader.number(UInt32.self) else { return nil }
      var dictionary = PropertyListDictionary()
      for _ in 0..<count {
        guard let keyCount = reader.number(UInt32.self), let key = reader.text(Int(keyCount)),
          let element = read(&reader, depth: depth + 1)
        else { return nil }
        dictionary[key] = element
      }
      return .dictionary(dictionary)
    default: return nil
    }
  }
}

extension PropertyListValue {
  /// The bytes of the value in a journal. Equal values have equal bytes.
  package var journalBytes: [UInt8] {
    var bytes: [UInt8] = []
    ValueCoding.append(self, to: &bytes)
    return bytes
  }

  /// Returns nil unless the bytes are those of one value.
  /// - Parameter bytes: They may be of any origin.
  package init?(journalBytes bytes: [UInt8]) {
    let value = unsafe bytes.withUnsafeBytes { all -> PropertyListValue? in
      var reader = unsafe ByteReader(all, 0..<all.count)
      guard let value = ValueCoding.read(&reader), reader.isAtEnd else { return nil }
      return value
    }
    guard let value else { return nil }
    self = value
  }
}
