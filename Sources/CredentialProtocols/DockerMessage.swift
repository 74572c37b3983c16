package import SecretMemory

/// The name of a registry, as docker has it: a host with a port, or a URL.
package struct DockerServer: Equatable, Sendable {
  package let name: String

  package init(_ name: String) { self.name = name }

  /// The message of `get` and `erase`: the name alone, with blanks around it.
  /// - Throws: `zeroByte`, `valueNotText`, `serverMissing`.
  package init(parsing message: consuming Secret) throws(CredentialError) {
    guard !message.contains(0) else { throw CredentialError(.zeroByte) }
    let name = try message.text("the server").drop(while: \.isWhitespace)
    self.name = String(name.prefix(upTo: name.lastIndex { !$0.isWhitespace }.map(name.index(after:)) ?? name.startIndex))
    guard !self.name.isEmpty else { throw CredentialError(.serverMissing) }
  }

  /// Without scheme and slashes at the end.
  private var plain: Substring {
    var rest = name[(name.firstRange(of: "://")?.upperBound ?? name.startIndex)...]
    while rest.last == "/" { rest.removeLast() }
    return rest
  }

  private var scheme: Substring? { name.firstRange(of: "://").map { name[..<$0.lowerBound] } }

  /// Whether both are names for one registry. The password for https goes to no http.
  package func isSame(as other: DockerServer) -> Bool {
    plain.utf8.elementsEqual(other.plain.utf8) && (scheme == nil || other.scheme == nil || scheme == other.scheme)
  }
}

/// The message of `store`.
package struct DockerCredential: ~Copyable {
  package enum Member: String, CaseIterable, Sendable {
    case server = "ServerURL"
    case user = "Username"
    case secret = "Secret"
  }

  package let server: DockerServer
  /// `<token>`, if the secret is a token for identity.
  package let user: String
  package let secret: Secret

  /// - Throws: as `JSONStrings`; `valueNotText`, `zeroByte`, `serverMissing`, `userMissing`; as `Secret(count:)`.
  package init(parsing message: consuming Secret) throws {
    let members = try JSONStrings(parsing: message, names: Member.allCases.map(\.rawValue))
    let server = try members.secret(Member.server.rawValue).text(Member.server.rawValue)
    let user = try members.secret(Member.user.rawValue).text(Member.user.rawValue)
    let secret = try members.secret(Member.secret.rawValue)
    guard !secret.contains(0), !server.contains("\0"), !user.contains("\0") else { throw CredentialError(.zeroByte) }
    guard !server.isEmpty else { throw CredentialError(.serverMissing) }
    guard !user.isEmpty else { throw CredentialError(.userMissing) }
    self.server = DockerServer(server)
    self.user = user
    self.secret = secret
  }
}

extension Secret {
  /// A part that is not secret, as text.
  fileprivate borrowing func text(_ what: String) throws(CredentialError) -> String {
    let text = withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) } }
    guard let text else { throw CredentialError(.valueNotText, what) }
    return text
  }
}
