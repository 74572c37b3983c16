internal import AccessRights
internal import SecretMemory
package import VaultCore

/// The fields of a message, each taken once: what is left in the end was not meant for this operation.
struct Fields {
  private var left: Attributes

  init(_ fields: Attributes) { left = fields }

  private mutating func take<Value>(
    _ name: String, _ value: (AttributeValue) throws -> Value?
  ) throws(WireError) -> Value? {
    guard let field = left[name] else { return nil }
    left[name] = nil
    guard let value = try? value(field) else { throw WireError(.field, name) }
    return value
  }

  func has(_ name: String) -> Bool { left[name] != nil }

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

  mutating func data(_ name: String) throws(WireError) -> [UInt8]? {
    try take(name) { if case .data(let bytes) = $0 { bytes } else { nil } }
  }

  /// The lengths of several secrets, of 4 bytes each.
  mutating func byteCounts() throws(WireError) -> [Int] {
    let name = "byte-counts"
    let bytes = try Self.required(name, try data(name))
    guard bytes.count % 4 == 0 else { throw WireError(.field, name) }
    return stride(from: 0, to: bytes.count, by: 4).map { start in
      (0..<4).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
    }
  }

  mutating func identifier(_ name: String) throws(WireError) -> Identifier? {
    try take(name) { if case .data(let bytes) = $0 { Identifier(bytes) } else { nil } }
  }

  mutating func reference() throws(WireError) -> Reference {
    let id = try identifier("id")
    return Reference(group: try requiredGroup("group"), id: try Self.required("id", id))
  }

  mutating func value<Value: RawRepresentable<UInt8>>(_ name: String, _: Value.Type = Value.self) throws(WireError) -> Value? {
    guard let number = try integer(name) else { return nil }
    guard let raw = UInt8(exactly: number), let value = Value(rawValue: raw) else { throw WireError(.field, name) }
    return value
  }

  mutating func requiredText(_ name: String) throws(WireError) -> String { try Self.required(name, try text(name)) }

  mutating func requiredInteger(_ name: String) throws(WireError) -> UInt64 { try Self.required(name, try integer(name)) }

  mutating func requiredGroup(_ name: String) throws(WireError) -> AccessGroup { try Self.required(name, try group(name)) }

  mutating func rights(_ name: String) throws(WireError) -> Entitlements.Rights {
    let number = try requiredInteger(name)
    guard let raw = UInt8(exactly: number), Entitlements.Rights.all.isSuperset(of: .init(rawValue: raw)) else {
      throw WireError(.field, name)
    }
    return Entitlements.Rights(rawValue: raw)
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

/// The content of a request while it is read: each field, the part and the secret are taken once, and `end` refuses the rest.
struct RequestFields: ~Copyable {
  var fields: Fields
  fileprivate(set) var parts: [[UInt8]]
  fileprivate(set) var secret: Secret?

  mutating func part() throws(WireError) -> [UInt8] {
    guard let part = parts.popLast() else { throw WireError(.malformed, "no part") }
    return part
  }

  mutating func item() throws(WireError) -> Item {
    do { return try Item(decoding: part()) } catch { throw WireError(.malformed, "an item") }
  }

  /// All of them.
  mutating func items() throws(WireError) -> [Item] {
    defer { parts = [] }
    do { return try parts.map { try Item(decoding: $0) } } catch { throw WireError(.malformed, "an item") }
  }

  mutating func attributes() throws(WireError) -> Attributes {
    do { return try TLV.decode(part()) } catch { throw WireError(.malformed, "attributes") }
  }

  var hasSecret: Bool { secret != nil }

  /// - Throws: `VaultError` of locked memory.
  mutating func takeSecret() throws -> Secret { try secret.take() ?? Secret(count: 0) }

  /// The keys that the secret consists of, one after the other.
  mutating func keys() throws -> Remainder { Remainder(try takeSecret()) }

  consuming func end() throws(WireError) {
    try fields.end()
    guard parts.isEmpty else { throw WireError(.malformed, "a part that is not meant") }
    guard secret == nil else { throw WireError(.malformed, "a secret that is not meant") }
  }
}

/// The part of the secret of a message that was not taken yet, key by key.
struct Remainder: ~Copyable {
  private static let keyByteCount = 32
  private let secret: Secret
  private var position = 0

  init(_ secret: consuming Secret) { self.secret = secret }

  var count: Int { secret.count - position }

  mutating func takeKey() throws -> Secret {
    guard count >= Self.keyByteCount else { throw WireError(.field, "a key") }
    defer { position += Self.keyByteCount }
    return try secret.copy(position, Self.keyByteCount)
  }

  func end() throws(WireError) {
    guard count == 0 else { throw WireError(.malformed, "more than was meant") }
  }
}

extension Secret {
  borrowing func joined(to other: borrowing Secret) throws -> Secret {
    var both = try Secret(count: count + other.count)
    both.write(self, at: 0)
    both.write(other, at: count)
    return both
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
    let generation = try fields.requiredInteger("generation")
    try fields.end()
    self.init(reference: reference, item: item, accessibility: accessibility, generation: generation)
  }
}
