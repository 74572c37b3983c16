package import SecretMemory

extension RawSpan {
  func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

/// A private key as a client adds it to an agent, without the number of the message: what an item of the vault holds. Its fields are not
/// read here: OpenSSH's agent does that.
package enum KeyForAdding {
  /// Whether a message adds a private key.
  package static func isAdded(by number: UInt8) -> Bool {
    number == MessageNumber.add || number == MessageNumber.addConstrained
  }

  /// The key in a message that adds it, with its constraints if it has any.
  /// - Throws: `VaultError` of locked memory.
  package static func key(in message: borrowing Secret) throws -> Secret { try message.copy(1, message.count - 1) }

  /// The message that adds the key for `AgentLimits.keySeconds`. Constraints follow each other, so one more stands at the end.
  /// - Throws: `VaultError` of locked memory.
  package static func message(adding key: borrowing Secret) throws -> Secret {
    var message = try Secret(count: 1 + key.count + 5)
    message.write(MessageNumber.addConstrained, at: 0)
    message.write(key, at: 1)
    message.write([MessageNumber.lifetime] + WireField.number(AgentLimits.keySeconds), at: 1 + key.count)
    return message
  }
}
