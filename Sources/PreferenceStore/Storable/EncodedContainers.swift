internal import CofferPropertyLists

extension PropertyListValue {
  fileprivate init(_ number: some FixedWidthInteger) {
    self = Int64(exactly: number).map { .integer($0) } ?? .number(UInt64(clamping: number))
  }
}

extension StorableEncoder: SingleValueEncodingContainer {
  func encodeNil() { node.content = .value(Self.null) }
  func encode(_ value: Bool) { node.content = .value(.boolean(value)) }
  func encode(_ value: String) { node.content = .value(.string(value)) }
  func encode(_ value: Double) { node.content = .value(.real(value)) }
  func encode(_ value: Float) { node.content = .value(.real(Double(value))) }
  func encode(_ value: Int) { node.content = .value(.init(value)) }
  func encode(_ value: Int8) { node.content = .value(.init(value)) }
  func encode(_ value: Int16) { node.content = .value(.init(value)) }
  func encode(_ value: Int32) { node.content = .value(.init(value)) }
  func encode(_ value: Int64) { node.content = .value(.init(value)) }
  func encode(_ value: UInt) { node.content = .value(.init(value)) }
  func encode(_ value: UInt8) { node.content = .value(.init(value)) }
  func encode(_ value: UInt16) { node.content = .value(.init(value)) }
  func encode(_ value: UInt32) { node.content = .value(.init(value)) }
  func encode(_ value: UInt64) { node.content = .value(.init(value)) }
  func encode<Value: Encodable>(_ value: Value) throws { try inner(node, EncodedKey("value")).put(value) }
}

struct EncodedFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: StorableEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  init(encoder: StorableEncoder) {
    self.encoder = encoder
    if case .nothing = encoder.node.content { encoder.node.content = .fields([:]) }
  }

  private func inner(_ key: any CodingKey) throws -> StorableEncoder {
    try encoder.inner(encoder.node.field(key.stringValue), key)
  }
  /// These requirements cannot throw; the container checks the depth when it is written to.
  private func unchecked(_ key: any CodingKey) -> StorableEncoder {
    StorableEncoder(node: encoder.node.field(key.stringValue), codingPath: codingPath + [key])
  }

  func encodeNil(forKey key: Key) throws { try inner(key).encodeNil() }
  func encode(_ value: Bool, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: String, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: Double, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: Float, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: Int, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: Int8, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: Int16, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: Int32, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: Int64, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: UInt, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: UInt8, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: UInt16, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: UInt32, forKey key: Key) throws { try inner(key).encode(value) }
  func encode(_ value: UInt64, forKey key: Key) throws { try inner(key).encode(value) }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try inner(key).put(value) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
    unchecked(key).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { unchecked(key).unkeyedContainer() }
  func superEncoder() -> any Encoder { unchecked(EncodedKey("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { unchecked(key) }
}

struct EncodedElements: UnkeyedEncodingContainer {
  let encoder: StorableEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { if case .elements(let nodes) = encoder.node.content { nodes.count } else { 0 } }

  init(encoder: StorableEncoder) {
    self.encoder = encoder
    if case .nothing = encoder.node.content { encoder.node.content = .elements([]) }
  }

  private func inner() throws -> StorableEncoder {
    let key = EncodedKey(intValue: count)
    return try encoder.inner(encoder.node.element(), key)
  }
  private func unchecked() -> StorableEncoder {
    let path = codingPath + [EncodedKey(intValue: count)]
    return StorableEncoder(node: encoder.node.element(), codingPath: path)
  }

  func encodeNil() throws { try inner().encodeNil() }
  func encode(_ value: Bool) throws { try inner().encode(value) }
  func encode(_ value: String) throws { try inner().encode(value) }
  func encode(_ value: Double) throws { try inner().encode(value) }
  func encode(_ value: Float) throws { try inner().encode(value) }
  func encode(_ value: Int) throws { try inner().encode(value) }
  func encode(_ value: Int8) throws { try inner().encode(value) }
  func encode(_ value: Int16) throws { try inner().encode(value) }
  func encode(_ value: Int32) throws { try inner().encode(value) }
  func encode(_ value: Int64) throws { try inner().encode(value) }
  func encode(_ value: UInt) throws { try inner().encode(value) }
  func encode(_ value: UInt8) throws { try inner().encode(value) }
  func encode(_ value: UInt16) throws { try inner().encode(value) }
  func encode(_ value: UInt32) throws { try inner().encode(value) }
  func encode(_ value: UInt64) throws { try inner().encode(value) }
  func encode<Value: Encodable>(_ value: Value) throws { try inner().put(value) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    unchecked().container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { unchecked().unkeyedContainer() }
  func superEncoder() -> any Encoder { unchecked() }
}
