struct BinaryPropertyListWriter {
  private var objects: [[UInt8]] = []
  /// Each string is written once, however often it occurs. (Foundation shares numbers as well; readers accept both.)
  private var texts: [PropertyListDictionary.Key: Int] = [:]
  /// Containers whose references are put in once their width is known: object, kind, references.
  private var containers: [(object: Int, marker: UInt8, count: Int, references: [Int])] = []

  /// - Throws: `tooDeep`, `tooLarge`.
  static func write(_ value: PropertyListValue) throws(PropertyListError) -> [UInt8] {
    var writer = BinaryPropertyListWriter()
    let top = try writer.add(value, depth: 0)
    return writer.finish(top: top)
  }

  private mutating func add(_ value: PropertyListValue, depth: Int) throws(PropertyListError) -> Int {
    guard depth <= PropertyList.maximumDepth else { throw PropertyListError(.tooDeep) }
    guard objects.count < PropertyList.maximumValueCount else { throw PropertyListError(.tooLarge, "values") }
    switch value {
    case .string(let text): return add(text)
    case .integer(let integer): return add(Self.integer(integer))
    case .unsigned(let integer): return add([0x14] + [UInt8](repeating: 0, count: 8) + Self.bigEndian(integer, 8))
    case .real(let real): return add([0x23] + Self.bigEndian(real.bitPattern, 8))
    case .boolean(let boolean): return add([boolean ? 0x09 : 0x08])
    case .date(let date): return add([0x33] + Self.bigEndian(date.bitPattern, 8))
    case .data(let data): return add(Self.head(BinaryPropertyList.Marker.data, data.count) + data)
    case .uid(let uid): return add([0x83] + Self.bigEndian(UInt64(uid), 4))
    case .array(let elements):
      let index = add([])
      var references: [Int] = []
      for element in elements { references.append(try add(element, depth: depth + 1)) }
      containers.append((index, BinaryPropertyList.Marker.array, elements.count, references))
      return index
    case .dictionary(let dictionary):
      let index = add([])
      let entries = dictionary.sorted
      var references = entries.map { add($0.key) }
      for entry in entries { references.append(try add(entry.value, depth: depth + 1)) }
      containers.append((index, BinaryPropertyList.Marker.dictionary, entries.count, references))
      return index
    }
  }

  private mutating func add(_ object: [UInt8]) -> Int {
    objects.append(object)
    return objects.count - 1
  }

  private mutating func add(_ text: String) -> Int {
    let key = PropertyListDictionary.Key(text)
    if let index = texts[key] { return index }
    let object: [UInt8]
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      object = Self.head(BinaryPropertyList.Marker.ascii, text.utf8.count) + text.utf8
    } else {
      let units = Array(text.utf16)
      object = Self.head(BinaryPropertyList.Marker.utf16, units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }
    let index = add(object)
    texts[key] = index
    return index
  }

  private static func bigEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  /// Uses the smallest size: readers take 1, 2 and 4 bytes as unsigned.
  private static func integer(_ value: Int64) -> [UInt8] {
    switch value {
    case 0...0xFF: [0x10] + bigEndian(UInt64(value), 1)
    case 0...0xFFFF: [0x11] + bigEndian(UInt64(value), 2)
    case 0...0xFFFF_FFFF: [0x12] + bigEndian(UInt64(value), 4)
    default: [0x13] + bigEndian(UInt64(bitPattern: value), 8)
    }
  }

  private static func head(_ marker: UInt8, _ count: Int) -> [UInt8] {
    count < 15 ? [marker << 4 | UInt8(count)] : [marker << 4 | 0x0F] + integer(Int64(count))
  }

  private static func width(_ largest: Int) -> Int {
    switch largest {
    case ..<0x100: 1
    case ..<0x1_0000: 2
    case ..<0x100_0000: 3
    default: 4
    }
  }

  private mutating func finish(top: Int) -> [UInt8] {
    let referenceWidth = Self.width(objects.count)
    for container in containers {
      objects[container.object] =
        Self.head(container.marker, container.count)
        + container.references.flatMap { Self.bigEndian(UInt64($0), referenceWidth) }
    }
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    let offsetWidth = Self.width(table)
    for offset in offsets { bytes += Self.bigEndian(UInt64(offset), offsetWidth) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(referenceWidth)]
    bytes += Self.bigEndian(UInt64(objects.count), 8)
    bytes += Self.bigEndian(UInt64(top), 8)
    bytes += Self.bigEndian(UInt64(table), 8)
    return bytes
  }
}
