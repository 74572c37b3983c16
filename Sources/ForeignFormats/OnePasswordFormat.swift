internal import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// `export.data` of an export of 1Password 8 (.1pux).
package enum OnePasswordFormat {
  package static let dataName = "export.data"

  /// A file of an entry, which lies beside `export.data`.
  package struct Attachment: Sendable {
    /// The index of the item to which it belongs.
    package let item: Int
    package let fileName: String
    /// The name within the archive.
    package let member: String
    package let line: Int
  }

  /// - Throws: as `JSONText`; `otherShape`, `fieldTooLarge`.
  package static func items(of text: SourceText) throws -> (items: ForeignItems, attachments: [Attachment]) {
    let document = try JSONText(of: text)
    guard let accounts = document["accounts"], accounts.isArray else {
      throw ForeignError(.otherShape, line: document.line, "accounts")
    }
    var result = ForeignItems()
    var attachments: [Attachment] = []
    for vault in accounts.elements.flatMap({ $0["vaults"]?.elements ?? [] }) {
      let folder = try vault["attrs"]?["name"]?.text(in: text) ?? ""
      for item in vault["items"]?.elements ?? [] {
        guard item.isObject else { throw ForeignError(.otherShape, line: item.line, "items") }
        var files: [(fileName: String, member: String)] = []
        var entry = try entry(item, text, &files)
        entry.folder = folder
        // A document has its file alone, which is read later.
        if !files.isEmpty { entry.add("files", text: files.map(\.fileName).joined(separator: ", ")) }
        let count = result.items.count
        try result.add(entry)
        guard result.items.count > count else { continue }
        attachments += files.map { .init(item: count, fileName: $0.fileName, member: $0.member, line: entry.line) }
      }
    }
    return (result, attachments)
  }

  private static func entry(
    _ item: JSONText, _ text: SourceText, _ files: inout [(fileName: String, member: String)]
  ) throws -> ForeignEntry {
    var entry = ForeignEntry(line: item.line)
    let (overview, details) = (item["overview"], item["details"])
    entry.title = try overview?["title"]?.text(in: text) ?? ""
    entry.places = try (overview?["urls"]?.elements ?? []).compactMap { try $0["url"]?.text(in: text) }
    if entry.places.isEmpty, let url = try overview?["url"]?.text(in: text), !url.isEmpty { entry.places = [url] }
    let tags = try (overview?["tags"]?.elements ?? []).compactMap { try $0.text(in: text) }
    entry.add("tags", text: tags.joined(separator: ", "))
    if let state = try item["state"]?.text(in: text), state != "active" { entry.add("state", text: state) }
    for field in details?["loginFields"]?.elements ?? [] { try add(loginField: field, to: &entry, text) }
    if let value = details?["password"], let password = try value.secret(in: text), password.secret.count > 0 {
      if entry.secret == nil { entry.secret = (password, value.range) } else { entry.add("password", secret: password) }
    }
    for section in details?["sections"]?.elements ?? [] {
      for field in section["fields"]?.elements ?? [] { try add(field: field, to: &entry, text, &files) }
    }
    try entry.add("notes", hidden: details?["notesPlain"], in: text)
    if let document = details?["documentAttributes"] { files += try file(document, text) }
    entry.former = try former(details, text)
    return entry
  }

  private static func add(loginField field: JSONText, to entry: inout ForeignEntry, _ text: SourceText) throws {
    guard let value = field["value"], let secret = try value.secret(in: text), secret.secret.count > 0 else { return }
    let name = try field["name"]?.text(in: text) ?? ""
    switch try field["designation"]?.text(in: text) {
    case "username" where entry.user.isEmpty: entry.user = secret.text
    case "password" where entry.secret == nil: entry.secret = (secret, value.range)
    default:
      // T is a text, E an address, U a URL, N a number; a password and unknown ones are hidden.
      if let type = try field["fieldType"]?.text(in: text), ["T", "E", "U", "N"].contains(type) {
        entry.add(name.isEmpty ? "field" : name, text: secret.text)
      } else {
        entry.add(name.isEmpty ? "field" : name, secret: secret)
      }
    }
  }

  /// A value is an object with one member, whose name is the kind.
  private static func add(
    field: JSONText, to entry: inout ForeignEntry, _ text: SourceText, _ files: inout [(fileName: String, member: String)]
  ) throws {
    let title = try field["title"]?.text(in: text) ?? ""
    let id = try field["id"]?.text(in: text) ?? ""
    let name = [title, id, "field"].first { !$0.isEmpty } ?? "field"
    for kind in field["value"]?.members ?? [] {
      switch kind.name {
      case "totp": if let code = try kind.value.secret(in: text) { try entry.add(otp: code) }
      case "file": files += try file(kind.value, text)
      case "email" where kind.value.isObject: try entry.add(name, kind.value["email_address"], in: text)
      case "sshKey" where kind.value.isObject:
        try entry.add(name, hidden: kind.value["privateKey"], in: text)
        for member in kind.value["metadata"]?.members ?? [] where member.name != "privateKey" {
          try entry.add(member.name, member.value, in: text)
        }
      case "string", "email", "phone", "url", "date", "monthYear", "creditCardType", "gender", "menu", "address", "reference":
        // An address is an object, and becomes a companion in the words of the file.
        try entry.add(name, kind.value, in: text)
      default: try entry.add(name, hidden: kind.value, in: text)
      }
    }
  }

  private static func file(_ value: JSONText, _ text: SourceText) throws -> [(fileName: String, member: String)] {
    guard let name = try value["fileName"]?.text(in: text), let id = try value["documentId"]?.text(in: text) else { return [] }
    return [(name, "files/\(id)___\(name)")]
  }

  /// In the order of their times, in seconds.
  private static func former(_ details: JSONText?, _ text: SourceText) throws -> [HeldSecret] {
    let history = try (details?["passwordHistory"]?.elements ?? []).map {
      (time: $0["time"].flatMap { Int64(text.text($0.range)) } ?? 0, secret: try $0["value"]?.secret(in: text))
    }
    return history.sorted { $0.time < $1.time }.compactMap(\.secret)
  }
}
