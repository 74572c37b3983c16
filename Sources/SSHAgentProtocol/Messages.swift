/// A public key, as the protocol names it, and the comment that people know it by.
package struct Identity: Hashable, Sendable {
  package let key: [UInt8]
  package let comment: [UInt8]

  package init(key: [UInt8], comment: [UInt8]) {
    self.key = key
    self.comment = comment
  }
}

/// The answer that lists the keys.
package struct IdentitiesAnswer: Equatable, Sendable {
  package private(set) var identities: [Identity] = []

  package init() {}

  /// Returns nil if it is another message, or malformed.
  package init?(parsing message: [UInt8]) {
    var reader = WireReader(message)
    guard reader.byte() == MessageNumber.identities, let count = reader.number() else { return nil }
    // The count is not believed: each key is there, or the message is malformed.
    for _ in 0..<count {
      guard let key = reader.string(), let comment = reader.string() else { return nil }
      identities.append(Identity(key: key, comment: comment))
    }
    guard reader.isAtEnd else { return nil }
  }

  /// Adds those that are not listed yet, as far as the message has room.
  package mutating func add(_ others: [Identity]) {
    var known = Set(identities.map(\.key))
    var room = AgentLimits.messageByteCount - message.count
    for other in others where known.insert(other.key).inserted {
      room -= 8 + other.key.count + other.comment.count
      guard room >= 0 else { return }
      identities.append(other)
    }
  }

  package var message: [UInt8] {
    identities.reduce(into: [MessageNumber.identities] + WireField.number(UInt32(clamping: identities.count))) {
      $0 += WireField.string($1.key) + WireField.string($1.comment)
    }
  }
}

/// A request for a signature.
package struct SignRequest: Equatable, Sendable {
  package let key: [UInt8]
  /// The bytes to be signed.
  package let data: [UInt8]
  package let flags: UInt32

  /// Returns nil if it is another message, or malformed.
  package init?(parsing message: [UInt8]) {
    var reader = WireReader(message)
    guard reader.byte() == MessageNumber.sign, let key = reader.string(), let data = reader.string(), let flags = reader.number(),
      reader.isAtEnd
    else { return nil }
    (self.key, self.data, self.flags) = (key, data, flags)
  }

  package var message: [UInt8] {
    [MessageNumber.sign] + WireField.string(key) + WireField.string(data) + WireField.number(flags)
  }
}

/// The extension by which a client says over which session it logs in: section 1 of OpenSSH's PROTOCOL.agent. OpenSSH's agent checks
/// the signature of the host.
package struct SessionBind: Equatable, Sendable {
  private static let name = "session-bind@openssh.com"

  package let hostKey: [UInt8]
  package let session: [UInt8]
  package let isForwarded: Bool

  /// Returns nil if it is another message, or malformed.
  package init?(parsing message: [UInt8]) {
    var reader = WireReader(message)
    guard reader.byte() == MessageNumber.extensionRequest, let name = reader.string(), name.elementsEqual(Self.name.utf8),
      let hostKey = reader.string(), let session = reader.string(), reader.string() != nil, let isForwarded = reader.byte(),
      reader.isAtEnd
    else { return nil }
    (self.hostKey, self.session, self.isForwarded) = (hostKey, session, isForwarded != 0)
  }
}
