import SSHAgentProtocol
import Testing

/// The reason that the owner reads.
@Suite struct PurposeTests {
  private static let hostKey = WireField.string(Array("ssh-ed25519".utf8)) + [1, 2, 3]

  private static func string(_ text: String) -> [UInt8] { WireField.string(Array(text.utf8)) }

  private static func bind(_ session: [UInt8], isForwarded: Bool = false) -> SessionBind? {
    SessionBind(
      parsing: [27] + string("session-bind@openssh.com") + WireField.string(hostKey) + WireField.string(session) + string("sig")
        + [isForwarded ? 1 : 0])
  }

  private static func login(_ user: String, _ session: [UInt8]) -> SignedData {
    SignedData(WireField.string(session) + [50] + string(user) + string("ssh-connection") + string("publickey") + [1])
  }

  private func text(_ data: SignedData, _ binds: [SessionBind?]) -> String {
    Purpose.text(of: data, binds.compactMap { $0 }) { $0 == Self.hostKey ? "git.example.org" : nil }
  }

  @Test func aLoginIsNamedByUserAndHost() {
    #expect(text(Self.login("git", [7]), [Self.bind([7])]) == "sign for git.example.org, user git")
    #expect(text(Self.login("git", [7]), [Self.bind([6]), Self.bind([7])]) == "sign for git.example.org, user git")
  }

  /// A bind for another session, or for one that only forwards the agent, names no host for this one.
  @Test func aHostIsNamedForItsOwnSessionAlone() {
    for binds in [[], [Self.bind([8])], [Self.bind([7], isForwarded: true)]] {
      #expect(text(Self.login("git", [7]), binds) == "sign for a host that is not known, user git")
    }
  }

  @Test func aHostWithoutANameIsNamedByItsKey() {
    let named = Purpose.text(of: Self.login("git", [7]), [Self.bind([7])].compactMap { $0 }) { _ in nil }
    #expect(
      named.hasPrefix("sign for a host that is not in known_hosts, with the key …") && named.hasSuffix(", user git"), "\(named)")
  }

  @Test func otherSignatures() {
    #expect(text(SignedData(Array("SSHSIG".utf8) + Self.string("git") + Self.string("")), []) == "sign for the use git")
    for data in [[], [0], Array("SSHSIG".utf8), Self.string("x") + [51], WireField.number(.max)] {
      #expect(text(SignedData(data), []) == "sign")
    }
  }

  @Test(arguments: [
    ("host", "host KEY"), ("host", "host,192.0.2.1 KEY comment"), ("[host]:2222", "[host]:2222 KEY"), ("b", "*.a,b KEY"),
    ("host", "# host KEY\n\nother KEY2\nhost\tKEY\r\n"), (nil, "|1|salt|hash KEY"), (nil, "@revoked host KEY"),
    (nil, "*.a,!b KEY"),
    (nil, "host KEY2"), (nil, "host"), (nil, ""),
  ]) func namesOfKnownHosts(name: String?, text: String) throws {
    let line = try #require(PublicKeyLine(Identity(key: Self.hostKey, comment: [])))
    let other = try #require(PublicKeyLine(Identity(key: Self.hostKey + [4], comment: [])))
    let file = text.replacing("KEY2", with: other.text).replacing("KEY", with: line.text)
    #expect(KnownHosts.name(ofHostWith: Self.hostKey, in: Array(file.utf8)) == name)
  }

  @Test func aPublicKeyIsOneLine() throws {
    for count in 0..<6 {
      let key = WireField.string(Array("ssh-rsa".utf8)) + [UInt8](repeating: 0xFB, count: count)
      let line = try #require(PublicKeyLine(Identity(key: key, comment: Array("ada\nProxyCommand x".utf8))))
      #expect(!line.text.contains("\n") && line.type == "ssh-rsa" && !line.isCertificate)
      let read = try #require(PublicKeyLine(parsing: Array("\(line.text)\n".utf8)))
      #expect(read.identity.key == key && read.comment == "ada ProxyCommand x")
    }
    for text in ["", "ssh-rsa", "ssh-rsa !", "ssh-dss AAAAB3NzYQ==", "ssh-rsa AAAA", "ssh-rsa AAAAB3NzaC1yc2F="] {
      #expect(PublicKeyLine(parsing: Array(text.utf8)) == nil, "\(text)")
    }
  }
}
