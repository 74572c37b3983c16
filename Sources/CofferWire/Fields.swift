package import VaultCore

/// The fields of a message, each taken once: what is left in the end was not meant for this operation.
struct Fields {
  private var left: Attributes

  init(_ fields: Attributes) { left = fields }

  private mutating func take(_ name: String) -> AttributeValue? {
    defer { left[name] = nil }
    return left[name]
  }

  private mutating func take<Value>(
    _ name: String, _ value: (AttributeValue) throws -> Value?
  ) throws(WireError) -> Value? {
    guard let field = take(name) else { return nil }
    guard let value = try? value(field) else { throw WireError(.field, name) }
    return value
  }

  mutating func text(_ name: String) throws(WireError) -> String? {
    try take(name) { if case .text(let text) = $0 { text } else { nil } }
  }

  mutating func integer(_ name: String) throws(WireError) -> UInt64? {
    try take(name) { if case .integer(let number) = $0 { number } else { nil } }
  }

  mutating func flag(_ name: String) throws(WireError) -> Bool {
    switch try integer(name) {
    case nil, 0: false
    case 1: true
    default: throw WireError(.field, name)
    }
  }

  mutating func group(_ name: String) throws(WireError) -> AccessGroup? {
    try take(name) { if case .text(let text) = $0 { try AccessGroup(text) } else { nil } }
  }

  mutating func time(_ name: String) throws(WireError) -> Timestamp? {
    try take(name) { if case .time(let time) = $0 { time } else { nil } }
  }

  /// 16 bytes.
  mutating func salt(_ name: String) throws(WireError) -> [UInt8]? {
    try take(name) { if case .data(let bytes) = $0, bytes.count == 16 { bytes } else { nil } }
  }

  mutating func identifier(_ name: String) throws(WireError) -> Identifier? {
    try take(name) { if case .data(let bytes) = $0 { Identifier(bytes) } else { nil } }
  }

  mutating func reference() throws(WireError) -> Reference {
    let id = try identifier("id")
    return Reference(group: try Self.required("group", try group("group")), id: try Self.required("id", id))
  }

  mutating func value<Value: RawRepresentable<UInt8>>(_ name: String, _: Value.Type = Value.self) throws(WireError) -> Value? {
    guard let number = try integer(name) else { return nil }
    guard let raw = UInt8(exactly: number), let value = Value(rawValue: raw) else { throw WireError(.field, name) }
    return value
  }

  static func required<Value>(_ name: String, _ value: Value?) throws(WireError) -> Value {
    guard let value else { throw WireError(.field, "\(name) is missing") }
    return value
  }

  /// - Throws: `field` where one was not taken.
  func end() throws(WireError) {
    for (name, _) in left { throw WireError(.field, name) }
  }
}

extension Attributes {
  mutating func set(_ reference: Reference) {
    self["group"] = .text(reference.group.name)
    self["id"] = .data(reference.id.bytes)
  }
}

extension Entry {
  /// `u32` bytes of the fields, the fields, the item as the vault encodes it.
  package var wirePart: [UInt8] {
    var fields = Attributes()
    fields.set(reference)
    fields["accessible"] = .integer(UInt64(accessibility.rawValue))
    fields["generation"] = .integer(generation)
    let head = TLV.encode(fields)
    var bytes: [UInt8] = []
    bytes.append(littleEndian: UInt32(head.count))
    return bytes + head + item.encoded
  }

  /// - Throws: `malformed`, `field`.
  package init(wirePart bytes: [UInt8]) throws(WireError) {
    let length = unsafe bytes.withUnsafeBytes { bytes -> Int? in
      guard bytes.count >= 4 else { return nil }
      let length: UInt32 = unsafe bytes.bytes.integer(at: 0)
      return length <= UInt32(bytes.count - 4) ? Int(length) : nil
    }
    guard let length else { throw WireError(.malformed, "an item") }
    var fields: Fields
    let item: Item
    do {
      fields = Fields(try TLV.decode(Array(bytes[4..<4 + length])))
      item = try Item(decoding: Array(bytes[(4 + length)...]))
    } catch { throw WireError(.malformed, "an item") }
    let reference = try fields.reference()
    let accessibility = try Fields.required("accessible", try fields.value("accessible", Accessibility.self))
    let generation = try Fields.required("generation", try fields.integer("generation"))
    try fields.end()
    self.init(reference: reference, item: item, accessibility: accessibility, generation: generation)
  }
}
