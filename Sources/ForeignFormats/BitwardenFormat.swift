internal import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// The export of Bitwarden and Vaultwarden, of a person or of an organization.
package enum BitwardenFormat {
  /// Members that are for Bitwarden alone.
  private static let own: Set<String> = [
    "object", "id", "organizationId", "folderId", "collectionIds", "type", "name", "notes", "fields", "login", "secureNote",
    "card", "identity", "sshKey", "passwordHistory", "favorite",
  ]
  /// The hidden members of cards, identities and keys.
  private static let hidden: Set<String> = ["number", "code", "ssn", "passportNumber", "licenseNumber", "privateKey"]

  /// - Throws: as `JSONText`; `accountEncrypted`; `otherShape`, `fieldTooLarge`.
  package static func items(of text: SourceText) throws -> ForeignItems {
    let document = try JSONText(of: text)
    if document["encrypted"]?.isTrue == true { throw ForeignError(.accountEncrypted, line: document.line) }
    guard let items = document["items"], items.isArray else { throw ForeignError(.otherShape, line: document.line, "items") }
    let folders = try folderNames(document, text)
    var result = ForeignItems()
    for item in items.elements {
      guard item.isObject else { throw ForeignError(.otherShape, line: item.line, "items") }
      try result.add(entry(item, folders, text))
    }
    return result
  }

  private static func folderNames(_ document: JSONText, _ text: SourceText) throws -> [String: String] {
    var names: [String: String] = [:]
    for folder in (document["folders"]?.elements ?? []) + (document["collections"]?.elements ?? []) {
      if let id = try folder["id"]?.text(in: text) { names[id] = try folder["name"]?.text(in: text) }
    }
    return names
  }

  private static func entry(_ item: JSONText, _ folders: [String: String], _ text: SourceText) throws -> ForeignEntry {
    var entry = ForeignEntry(line: item.line)
    entry.title = try item["name"]?.text(in: text) ?? ""
    let places = [item["folderId"]].compactMap(\.self) + (item["collectionIds"]?.elements ?? [])
    entry.folder = try places.lazy.compactMap { try $0.text(in: text) }.compactMap { folders[$0] }.first ?? ""
    if let login = item["login"] { try add(login: login, to: &entry, text) }
    for part in ["card", "identity", "sshKey"] {
      for member in item[part]?.members ?? [] {
        if hidden.contains(member.name) {
          try entry.add(member.name, hidden: member.value, in: text)
        } else {
          try entry.add(member.name, member.value, in: text)
        }
      }
    }
    try entry.add("notes", hidden: item["notes"], in: text)
    for field in item["fields"]?.elements ?? [] { try add(field: field, to: &entry, text) }
    if item["favorite"]?.isTrue == true { entry.add("favorite", text: "true") }
    for member in item.members where !own.contains(member.name) {
      // 0 is the usual value of `reprompt`.
      if !member.value.isNumber || text.text(member.value.range) != "0" { try entry.add(member.name, member.value, in: text) }
    }
    entry.former = try former(item, entry, text)
    return entry
  }

  private static func add(login: JSONText, to entry: inout ForeignEntry, _ text: SourceText) throws {
    entry.user = try login["username"]?.text(in: text) ?? ""
    if let value = login["password"], let password = try value.secret(in: text), password.secret.count > 0 {
      entry.secret = (password, value.range)
    }
    entry.places = try (login["uris"]?.elements ?? []).compactMap { try $0["uri"]?.text(in: text) }
    if let code = try login["totp"]?.secret(in: text) { try entry.add(otp: code) }
    let known: Set<String> = ["username", "password", "uris", "totp"]
    for member in login.members where !known.contains(member.name) {
      try entry.add(member.name, hidden: member.value, in: text)
    }
  }

  private static func add(field: JSONText, to entry: inout ForeignEntry, _ text: SourceText) throws {
    let name = try field["name"]?.text(in: text) ?? ""
    // 0 is a text and 2 a switch. 1 is hidden, and 3 a link to another field.
    let isShown = field["type"].map { ["0", "2"].contains(text.text($0.range)) } ?? false
    if isShown {
      try entry.add(name.isEmpty ? "field" : name, field["value"], in: text)
    } else {
      try entry.add(name.isEmpty ? "field" : name, hidden: field["value"], in: text)
    }
  }

  /// In the order of their times, which are texts of one form.
  private static func former(_ item: JSONText, _ entry: ForeignEntry, _ text: SourceText) throws -> [HeldSecret] {
    let history = try (item["passwordHistory"]?.elements ?? []).map {
      (time: try $0["lastUsedDate"]?.text(in: text) ?? "", secret: try $0["password"]?.secret(in: text))
    }
    return history.sorted { $0.time < $1.time }.compactMap(\.secret)
  }
}
