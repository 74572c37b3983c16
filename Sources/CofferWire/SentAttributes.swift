import SecretMemory
import VaultCore

// An agent ends the connection at what it does not decode. So it is not sent.

extension Attributes {
  /// The encoded attributes of a search.
  /// - Throws: `attributeNotAllowed`, `nameTooLong` for those that the agent does not decode.
  func sent() throws(VaultError) -> [UInt8] {
    try sent {
      TLV.encode($0)
    } decode: { (bytes) throws(VaultError) in
      _ = try TLV.decode(bytes)
    }
  }

  fileprivate func sent(
    _ encode: (Attributes) -> [UInt8], decode: ([UInt8]) throws(VaultError) -> Void
  ) throws(VaultError) -> [UInt8] {
    guard allSatisfy({ $0.name.utf8.count <= Self.maximumNameByteCount }) else {
      throw VaultError(.nameTooLong, "an attribute's name")
    }
    let bytes = encode(self)
    do { try decode(bytes) } catch { throw VaultError(.attributeNotAllowed, error.detail) }
    return bytes
  }
}

extension Item {
  /// Encoded without empty primary attributes, which are absent ones, also to a vault in the process.
  /// - Throws: as those of a search.
  func sent() throws(VaultError) -> [UInt8] {
    var attributes = attributes
    for (name, absent) in itemClass.primaryAttributes where attributes[name] == absent { attributes[name] = nil }
    return try attributes.sent {
      Item(itemClass, $0).encoded
    } decode: { (bytes) throws(VaultError) in
      _ = try Item(decoding: bytes)
    }
  }
}

extension AttributeValue {
  static func purpose(_ text: String) throws(VaultError) -> AttributeValue {
    guard text.utf8.count <= Attributes.maximumValueByteCount else { throw VaultError(.attributeNotAllowed, "purpose: too long") }
    return .text(text)
  }
}
