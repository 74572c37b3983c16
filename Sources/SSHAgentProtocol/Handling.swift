package import SecretMemory

/// The way in which a message of a client is handled. A pure function of the message and the state.
package enum Handling: Equatable, Sendable {
  /// OpenSSH's agent answers.
  case pass
  /// It answers, and the vault's keys are added.
  case list
  /// The vault has the key.
  case sign(SignRequest)
  /// OpenSSH's agent answers, and remembers it if it accepts it; so does this one.
  case bind(SessionBind)
  case lock
  case unlock
  case refuse

  /// - Parameters:
  ///   - message: Without secrets; of a message that may have some, its number alone is given.
  ///   - isLocked: Whether a client has locked the agent, as ssh-add -x does.
  package init(_ message: [UInt8], isLocked: Bool, isInVault: ([UInt8]) -> Bool) {
    switch message.first {
    case MessageNumber.requestIdentities: self = isLocked ? .pass : .list
    case MessageNumber.sign:
      guard let request = SignRequest(parsing: message), isInVault(request.key) else {
        self = .pass
        return
      }
      self = isLocked ? .refuse : .sign(request)
    case MessageNumber.extensionRequest: self = SessionBind(parsing: message).map { .bind($0) } ?? .pass
    case MessageNumber.lock: self = .lock
    case MessageNumber.unlock: self = .unlock
    default: self = .pass
    }
  }

  /// Whether a message that locks or unlocks has one passphrase. Another one ends OpenSSH's agent, and with it the keys of all clients.
  package static func hasPassphrase(_ message: borrowing Secret) -> Bool {
    message.withBytes { bytes in
      guard bytes.byteCount >= 5 else { return false }
      let length = (1..<5).reduce(0) { $0 << 8 | Int(bytes.byte(at: $1)) }
      // A zero byte would end it for OpenSSH.
      return length == bytes.byteCount - 5 && (5..<bytes.byteCount).allSatisfy { bytes.byte(at: $0) != 0 }
    }
  }

  /// Whether a message is without secrets, so that its bytes are looked at.
  package static func isPublic(_ number: UInt8) -> Bool {
    [MessageNumber.requestIdentities, MessageNumber.sign, MessageNumber.extensionRequest].contains(number)
  }
}
