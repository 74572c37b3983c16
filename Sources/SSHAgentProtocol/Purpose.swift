internal import TextEncodings

/// The bytes of a signature, as far as they say what it is for.
package enum SignedData: Equatable, Sendable {
  /// A login of this user over this session: RFC 4252, section 7.
  case login(user: [UInt8], session: [UInt8])
  /// Bytes such as a commit of git, for this use: OpenSSH's PROTOCOL.sshsig.
  case document(namespace: [UInt8])
  case other

  private static let userAuthentication: UInt8 = 50

  package init(_ data: [UInt8]) {
    var reader = WireReader(data)
    if reader.skips("SSHSIG".utf8) {
      self = reader.string().map { .document(namespace: $0) } ?? .other
      return
    }
    guard let session = reader.string(), reader.byte() == Self.userAuthentication, let user = reader.string(),
      let service = reader.string(), service.elementsEqual("ssh-connection".utf8)
    else {
      self = .other
      return
    }
    self = .login(user: user, session: session)
  }
}

/// The reason of a signature in words, for the owner and the log. Text of others in it is cut, and made visible where it is shown.
package enum Purpose {
  /// In bytes.
  private static let longestPart = 64

  /// - Parameters:
  ///   - binds: Those of the connection, which OpenSSH's agent has accepted.
  ///   - hostName: The name of the host with this key.
  package static func text(of data: SignedData, _ binds: [SessionBind], hostName: ([UInt8]) -> String?) -> String {
    switch data {
    case .other: return "sign"
    case .document(let namespace): return "sign for the use \(text(namespace))"
    case .login(let user, let session):
      // A host is named only for its own session.
      guard let bind = binds.last(where: { !$0.isForwarded && $0.session == session }) else {
        return "sign for a host that is not known, user \(text(user))"
      }
      // First: the program that asks chooses the name of the user.
      let host = hostName(bind.hostKey).map { text(Array($0.utf8)) } ?? unnamed(bind.hostKey)
      return "sign for \(host), user \(text(user))"
    }
  }

  private static func unnamed(_ key: [UInt8]) -> String {
    "a host that is not in known_hosts, with the key …\(String(Base64Text.encode(key).suffix(12)))"
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(longestPart), as: UTF8.self) }
}
