package import SecretMemory

/// The canonical encoding of attributes: sorted by name, each name once. Section 8.1 of FORMAT.md.
package enum TLV {
  package static func encode(_ attributes: Attributes) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256)
    for (name, value) in attributes {
      bytes.append(value.type)
      bytes.append(littleEndian: UInt16(name.utf8.count))
      bytes += name.utf8
      let content = value.bytes
      bytes.append(littleEndian: UInt32(content.count))
      bytes += content
    }
    return bytes
  }

  /// - Throws: `attributesMalformed`.
  package static func decode(_ bytes: [UInt8]) throws(VaultError) -> Attributes {
    var reader = ByteReader(bytes, orThrow: .attributesMalformed)
    var attributes = Attributes(reserving: 6)
    var previous: String?
    while reader.remaining > 0 {
      let type: UInt8 = try reader.readInteger()
      let nameCount: UInt16 = try reader.readInteger()
      let nameBytes = try reader.read(Int(nameCount))
      guard (1...Attributes.maximumNameByteCount).contains(Int(nameCount)),
        let name = String(validUTF8: nameBytes),
        !name.hasControlCharacter
      else { throw VaultError(.attributesMalformed, "a name") }
      guard previous.map({ $0.order(name) < 0 }) ?? true else { throw VaultError(.attributesMalformed, "order") }
      previous = name
      let valueCount: UInt32 = try reader.readInteger()
      guard valueCount <= Attributes.maximumValueByteCount else { throw VaultError(.attributesMalformed, "a long value") }
      attributes[name] = try AttributeValue(type: type, bytes: try reader.read(Int(valueCount)))
    }
    return attributes
  }
}

extension AttributeValue {
  var type: UInt8 {
    switch self {
    case .text: 1
    case .data: 2
    case .integer: 3
    case .time: 4
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .text(let text): bytes += text.utf8
    case .data(let data): bytes = data
    case .integer(let integer): bytes.append(littleEndian: integer)
    case .time(let time): bytes.append(littleEndian: time.secondsSince1970)
    }
    return bytes
  }

  fileprivate init(type: UInt8, bytes: ArraySlice<UInt8>) throws(VaultError) {
    var reader = ByteReader(bytes, orThrow: .attributesMalformed)
    switch type {
    case 1:
      guard let text = String(validUTF8: bytes) else { throw VaultError(.attributesMalformed, "a text") }
      self = .text(text)
    case 2:
      self = .data(Array(bytes))
    case 3:
      self = .integer(try reader.readInteger())
      try reader.readEnd()
    case 4:
      self = .time(Timestamp(secondsSince1970: try reader.readInteger()))
      try reader.readEnd()
    default:
      throw VaultError(.attributesMalformed, "type \(type)")
    }
  }
}

extension String {
  /// Nil for bytes that are not valid UTF-8. The standard library's own, which takes any collection, is ten times slower.
  fileprivate init?(validUTF8 bytes: ArraySlice<UInt8>) {
    do {
      self.init(copying: try UTF8Span(validating: bytes.span))
    } catch {
      return nil
    }
  }
}
