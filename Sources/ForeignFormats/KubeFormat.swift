internal import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// `~/.kube/config`: tokens and keys of users. `coffer credential kubectl NAME` answers with these items.
package enum KubeFormat {
  package static let service = "kubectl"
  /// A certificate is public. If an item has one, its secret is the key.
  package static let certificate = Item.userPrefix + "client-certificate"

  /// Why an entry must stay as it is.
  package enum Obstacle: Sendable {
    /// kubectl takes no password from another program.
    case password
    /// The entry names other programs or files that have credentials, or two credentials.
    case severalWays
    case certificateMissing
    /// A value that is not written on one line, without escapes and comments, or not in base64.
    case form
    /// Another entry has the name too, or no command line can have it.
    case name
  }

  package struct User: Sendable {
    package let name: String
    package let item: ForeignItem
    package let obstacle: Obstacle?
    /// The lines of its credential, the first one first.
    fileprivate let lines: [Range<Int>]
    fileprivate let column: Int
  }

  private static let token = "token"
  private static let key = "client-key-data"
  private static let certificateData = "client-certificate-data"
  private static let secrets = [token, key, "password"]
  private static let others = ["tokenFile", "client-certificate", "client-key", "username", "exec", "auth-provider"]

  /// The users with a secret of their own.
  /// - Throws: as `BlockYAML`; `fieldTooLarge`.
  package static func users(of text: SourceText) throws -> [User] {
    let entries = try BlockYAML.root(of: text)["users"]?.elements ?? []
    let names = entries.map { $0["name"]?.scalar.map(text.text) ?? "" }
    let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
    return try zip(entries, names).flatMap { entry, name in
      let user = entry["user"] ?? .other
      let found = user.members.filter { secrets.contains($0.name) }
      return try found.map { member in
        let isAlone = found.count == 1 && !user.members.contains { others.contains($0.name) }
        let isNamed = !name.isEmpty && name.first != "-" && counts[name] == 1
        let (item, problem) = try credential(member, of: user, name, text)
        let obstacle = member.name == "password" ? .password : !isAlone ? .severalWays : !isNamed ? .name : problem
        let lines = user.members.filter { [member.name, certificateData].contains($0.name) }.map(\.range)
        return User(name: name, item: item, obstacle: obstacle, lines: lines, column: member.column)
      }
    }
  }

  private static func credential(
    _ member: BlockYAML.Member, of user: BlockYAML.Node, _ name: String, _ text: SourceText
  ) throws -> (ForeignItem, Obstacle?) {
    func item(_ secret: HeldSecret, _ range: Range<Int>) -> ForeignItem {
      ForeignItem(service: service, account: name, secret, line: member.line, value: range)
    }
    guard let range = member.node.scalar else { return (item(HeldSecret(try Secret(count: 0)), member.range), .form) }
    let written = try text.secret(range)
    guard member.name == key else { return (item(written, range), user[certificateData] == nil ? nil : .severalWays) }
    guard let certificateText = user[certificateData]?.scalar else { return (item(written, range), .certificateMissing) }
    guard let secret = try Base64.decode(written.secret), let bytes = try Base64.decode(text.secret(certificateText).secret)
    else { return (item(written, range), .form) }
    var found = item(HeldSecret(secret), range)
    found.item[certificate] = HeldSecret(bytes).text
    return (found, nil)
  }

  /// Puts a program into the place of a credential. The version of the question is the one that all kubectl since 1.10 know.
  package static func edits(of users: [User], program: String) -> [TextEdit] {
    users.flatMap { user in
      let margin = String(repeating: " ", count: user.column)
      let words = [
        "exec:", "  apiVersion: client.authentication.k8s.io/v1beta1", "  command: \(program)", "  args:", "  - credential",
        "  - kubectl", "  - \(JSONForm.string(user.name))", "  interactiveMode: IfAvailable",
      ]
      let text = words.map { "\(margin)\($0)\n" }.joined()
      return user.lines.enumerated().map { TextEdit($1, $0 == 0 ? text : "") }
    }
  }
}
