internal import ProgramSecrets
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

  /// - Throws: `notJSON`, `memberUnknown`, `memberTwice`, `memberNotText`; `valueNotText`, `zeroByte`, `serverMissing`, `userMissing`;
  ///   as `Secret(count:)`.
  package init(parsing message: consuming Secret) throws {
    let text = HeldSecret(message)
    let members = try Self.members(of: text)
    let server = try Self.secret(members[.server], text).text(Member.server.rawValue)
    let user = try Self.secret(members[.user], text).text(Member.user.rawValue)
    let secret = try Self.secret(members[.secret], text)
    guard !secret.contains(0), !server.contains("\0"), !user.contains("\0") else { throw CredentialError(.zeroByte) }
    guard !server.isEmpty else { throw CredentialError(.serverMissing) }
    guard !user.isEmpty else { throw CredentialError(.userMissing) }
    self.server = DockerServer(server)
    self.user = user
    self.secret = secret
  }

  private static func members(of text: HeldSecret) throws -> [Member: JSONText] {
    let document: JSONText
    do {
      document = try JSONText(parsing: text)
    } catch let error as JSONError {
      guard error.code != .memberTwice else { throw CredentialError(.memberTwice, error.name) }
      throw CredentialError(.notJSON, "byte \(error.offset + 1)")
    }
    guard document.isObject else { throw CredentialError(.notJSON, "byte \(document.range.lowerBound + 1)") }
    var members: [Member: JSONText] = [:]
    for member in document.members {
      guard let known = Member(rawValue: member.name) else {
        throw CredentialError(.memberUnknown, "byte \(member.offset + 2)")
      }
      guard member.value.isString else { throw CredentialError(.memberNotText, known.rawValue) }
      members[known] = member.value
    }
    return members
  }

  /// The text of a member, in UTF-8 as far as the message is. Empty if the message lacks the member.
  /// - Throws: as `Secret(count:)`.
  private static func secret(_ value: JSONText?, _ text: HeldSecret) throws -> Secret {
    guard let value else { return try Secret(count: 0) }
    // An escape is longer than the character.
    var secret = try Secret(count: value.range.count)
    var count = 0
    value.forEachByte(of: text) { byte in
      secret.write(byte, at: count)
      count += 1
    }
    secret.truncate(to: count)
    return secret
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
