package import VaultCore

/// The item whose secret a credential is: a line `NAME=VALUE` for each part.
package struct CredentialSource: Hashable, Sendable {
  package let group: AccessGroup
  package let service: String
  /// nil: the only item of the service.
  package let account: String?

  package init(_ group: AccessGroup, service: String, account: String?) {
    (self.group, self.service, self.account) = (group, service, account)
  }

  /// The text of a file. Names of items have no line ends.
  var text: String {
    "group=\(group.name)\nservice=\(service)\n" + (account.map { "account=\($0)\n" } ?? "")
  }

  /// - Returns: nil if the text has another form.
  init?(_ text: String) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    guard lines.popLast() == "", (2...3).contains(lines.count) else { return nil }
    func value(_ name: String) -> String? {
      guard let line = lines.first, line.hasPrefix("\(name)=") else { return nil }
      lines.removeFirst()
      return String(line.dropFirst(name.count + 1))
    }
    guard let group = value("group").flatMap({ try? AccessGroup($0) }), let service = value("service") else { return nil }
    let account = value("account")
    guard lines.isEmpty else { return nil }
    self.init(group, service: service, account: account)
  }
}
