/// The binary format, "bplist00": objects, a table of their offsets, a trailer of 32 bytes. As CFBinaryPList.c describes it.
enum BinaryPropertyList {
  static let magic = Array("bplist0".utf8)
  static let trailerByteCount = 32

  /// The high half of an object's first byte.
  enum Marker {
    static let simple: UInt8 = 0x0
    static let integer: UInt8 = 0x1
    static let real: UInt8 = 0x2
    static let date: UInt8 = 0x3
    static let data: UInt8 = 0x4
    static let ascii: UInt8 = 0x5
    static let utf16: UInt8 = 0x6
    static let utf8: UInt8 = 0x7
    static let uid: UInt8 = 0x8
    static let array: UInt8 = 0xA
    static let set: UInt8 = 0xC
    static let dictionary: UInt8 = 0xD
  }
}

struct BinaryPropertyListReader {
  private let bytes: [UInt8]
  private let referenceByteCount: Int
  private let offsetByteCount: Int
  private let objectCount: Int
  private let tableStart: Int
  /// The containers around the present object. Meeting one of them again means that the list contains itself.
  private var open: Set<Int> = []
  private var valueCount = 0
  /// The bytes of strings and data copied so far: an object that is referenced repeatedly is copied each time.
  private var copiedByteCount = 0

  static func read(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
    var reader = try BinaryPropertyListReader(bytes)
    return try reader.object(reader.top, depth: 0)
  }

  private let top: Int

  private init(_ bytes: [UInt8]) throws(PropertyListError) {
    self.bytes = bytes
    let trailer = bytes.count - BinaryPropertyList.trailerByteCount
    guard trailer >= 8 else { throw PropertyListError(.malformed, "shorter than its trailer") }
    offsetByteCount = Int(bytes[trailer + 6])
    referenceByteCount = Int(bytes[trailer + 7])
    func number(_ offset: Int) -> UInt64 { bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    let count = number(trailer + 8)
    let top = number(trailer + 16)
    let table = number(trailer + 24)
    guard (1...8).contains(offsetByteCount), (1...8).contains(referenceByteCount), count > 0, top < count,
      table >= 8, table < UInt64(trailer), count <= (UInt64(trailer) - table) / UInt64(offsetByteCount)
    else { throw PropertyListError(.malformed, "trailer") }
    objectCount = Int(count)
    self.top = Int(top)
    tableStart = Int(table)
  }

  private func number(at offset: Int, _ count: Int) throws(PropertyListError) -> UInt64 {
    guard offset >= 8, count >= 0, offset <= tableStart - count || offset >= tableStart && offset + count <= bytes.count else {
      throw PropertyListError(.malformed, "an object reaches outside")
    }
    return bytes[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func contents(at offset: Int, _ count: Int) throws(PropertyListError) -> ArraySlice<UInt8> {
    guard offset >= 8, count >= 0, count <= tableStart, offset <= tableStart - count else {
      throw PropertyListError(.malformed, "an object reaches outside")
    }
    return bytes[offset..<offset + count]
  }

  private mutating func object(_ index: Int, depth: Int) throws(PropertyListError) -> PropertyListValue {
    guard depth <= PropertyList.maximumDepth else { throw PropertyListError(.tooDeep) }
    guard index < objectCount else { throw PropertyListError(.malformed, "object \(index) of \(objectCount)") }
    valueCount += 1
    guard valueCount <= PropertyList.maximumValueCount else { throw PropertyListError(.tooLarge, "values") }
    let rawOffset = try number(at: tableStart + index * offsetByteCount, offsetByteCount)
    guard rawOffset >= 8, rawOffset < UInt64(tableStart) else { throw PropertyListError(.malformed, "offset of object \(index)") }
    let offset = Int(rawOffset)
    let marker = bytes[offset]
    let low = Int(marker & 0x0F)
    switch marker >> 4 {
    case BinaryPropertyList.Marker.simple:
      switch marker {
      case 0x08: return .boolean(false)
      case 0x09: return .boolean(true)
      default: throw PropertyListError(.malformed, "object of type \(marker)")
      }
    case BinaryPropertyList.Marker.integer: return try integer(at: offset + 1, power: low)
    case BinaryPropertyList.Marker.real:
      switch low {
      case 2: return .real(Double(Float(bitPattern: UInt32(try number(at: offset + 1, 4)))))
      case 3: return .real(Double(bitPattern: try number(at: offset + 1, 8)))
      default: throw PropertyListError(.malformed, "a real of \(low)")
      }
    case BinaryPropertyList.Marker.date:
      guard low == 3 else { throw PropertyListError(.malformed, "a date of \(low)") }
      return .date(Double(bitPattern: try number(at: offset + 1, 8)))
    case BinaryPropertyList.Marker.uid:
      guard low < 4 else { throw PropertyListError(.malformed, "a uid of \(low + 1) bytes") }
      return .uid(UInt32(try number(at: offset + 1, low + 1)))
    case BinaryPropertyList.Marker.data, BinaryPropertyList.Marker.ascii, BinaryPropertyList.Marker.utf8,
      BinaryPropertyList.Marker.utf16:
      return try text(marker >> 4, at: offset, low)
    case BinaryPropertyList.Marker.array, BinaryPropertyList.Marker.dictionary:
      guard open.insert(index).inserted else { throw PropertyListError(.cyclic) }
      let value = try container(marker >> 4, at: offset, low, depth: depth)
      open.remove(index)
      return value
    default:
      throw PropertyListError(.malformed, "object of type \(marker)")
    }
  }

  /// 1, 2 and 4 bytes are unsigned, 8 bytes signed; 16 bytes hold a number above Int64.max.
  private func integer(at offset: Int, power: Int) throws(PropertyListError) -> PropertyListValue {
    switch power {
    case 0...2: return .integer(Int64(try number(at: offset, 1 << power)))
    case 3: return .integer(Int64(bitPattern: try number(at: offset, 8)))
    case 4:
      let high = try number(at: offset, 8)
      let low = try number(at: offset + 8, 8)
      if high == 0 { return .number(low) }
      guard high == .max, Int64(bitPattern: low) < 0 else {
        throw PropertyListError(.malformed, "an integer of more than 64 bits")
      }
      return .integer(Int64(bitPattern: low))
    default: throw PropertyListError(.malformed, "an integer of 2^\(power) bytes")
    }
  }

  /// The count in the low half of the marker, or, if that is 15, in an integer that follows.
  private func count(at offset: Int, _ low: Int) throws(PropertyListError) -> (count: Int, start: Int) {
    guard low == 0x0F else { return (low, offset + 1) }
    let marker = try number(at: offset + 1, 1)
    guard marker >> 4 == UInt64(BinaryPropertyList.Marker.integer), marker & 0x0F <= 3 else {
      throw PropertyListError(.malformed, "a count")
    }
    let byteCount = 1 << Int(marker & 0x0F)
    let count = try number(at: offset + 2, byteCount)
    guard count <= UInt64(bytes.count) else { throw PropertyListError(.malformed, "a count of \(count)") }
    return (Int(count), offset + 2 + byteCount)
  }

  private mutating func text(_ type: UInt8, at offset: Int, _ low: Int) throws(PropertyListError) -> PropertyListValue {
    let (count, start) = try count(at: offset, low)
    let content = try contents(at: start, type == BinaryPropertyList.Marker.utf16 ? 2 * count : count)
    copiedByteCount += content.count
    guard copiedByteCount <= 2 * PropertyList.maximumByteCount else { throw PropertyListError(.tooLarge, "texts") }
    switch type {
    case BinaryPropertyList.Marker.data: return .data(Array(content))
    case BinaryPropertyList.Marker.ascii:
      guard content.allSatisfy({ $0 < 0x80 }) else { throw PropertyListError(.malformed, "a text is not ASCII") }
      return .string(String(decoding: content, as: UTF8.self))
    case BinaryPropertyList.Marker.utf8:
      guard let text = String(validating: content, as: UTF8.self) else {
        throw PropertyListError(.malformed, "a text is not UTF-8")
      }
      return .string(text)
    default:
      let units = stride(from: content.startIndex, to: content.endIndex, by: 2).map {
        UInt16(content[$0]) << 8 | UInt16(content[$0 + 1])
      }
      guard let text = String(validating: units, as: UTF16.self) else {
        throw PropertyListError(.malformed, "a text is not UTF-16")
      }
      return .string(text)
    }
  }

  private mutating func container(
    _ type: UInt8, at offset: Int, _ low: Int, depth: Int
  ) throws(PropertyListError) -> PropertyListValue {
    let (count, start) = try count(at: offset, low)
    func reference(_ position: Int) throws(PropertyListError) -> Int {
      let value = try number(at: start + position * referenceByteCount, referenceByteCount)
      guard value < UInt64(objectCount) else { throw PropertyListError(.malformed, "a reference to object \(value)") }
      return Int(value)
    }
    _ = try contents(at: start, (type == BinaryPropertyList.Marker.array ? 1 : 2) * count * referenceByteCount)
    if type == BinaryPropertyList.Marker.array {
      var elements: [PropertyListValue] = []
      for position in 0..<count { elements.append(try object(try reference(position), depth: depth + 1)) }
      return .array(elements)
    }
    var dictionary = PropertyListDictionary()
    for position in 0..<count {
      guard case .string(let key) = try object(try reference(position), depth: depth + 1) else {
        throw PropertyListError(.malformed, "a key is not text")
      }
      dictionary[key] = try object(try reference(count + position), depth: depth + 1)
    }
    return .dictionary(dictionary)
  }
}
