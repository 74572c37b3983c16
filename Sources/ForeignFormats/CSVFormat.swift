internal import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// A table of passwords, as browsers and programs for passwords export it: one row for each entry, and names of the columns first.
package enum CSVFormat {
  /// The meaning of a column.
  package enum Part: String, CaseIterable, Sendable {
    case service, account, secret, title, url, notes, otp, folder, attribute, companion
    /// Listed as lost.
    case none
  }

  /// A program whose export has known columns.
  package enum Program: Sendable, CaseIterable {
    case chrome, firefox, apple

    fileprivate var needed: [String] {
      switch self {
      case .chrome: ["name", "url", "username", "password"]
      case .firefox: ["url", "username", "password", "httprealm", "formactionorigin", "guid"]
      case .apple: ["title", "url", "username", "password"]
      }
    }
  }

  /// Names that programs give to columns, in lower case.
  private static let known: [String: Part] = [
    "service": .service, "account": .account, "username": .account, "user name": .account, "user": .account, "login": .account,
    "login name": .account, "login_username": .account, "email": .account, "password": .secret, "secret": .secret,
    "pass": .secret, "login_password": .secret, "title": .title, "name": .title, "url": .url, "uri": .url, "website": .url,
    "web site": .url, "login_uri": .url, "location": .url, "notes": .notes, "note": .notes, "comments": .notes,
    "extra": .notes, "otp": .otp, "otpauth": .otp, "totp": .otp, "login_totp": .otp, "otpurl": .otp, "folder": .folder,
    "group": .folder, "grouping": .folder,
    // Firefox has these.
    "httprealm": .attribute, "formactionorigin": .attribute, "guid": .attribute, "timecreated": .attribute,
    "timelastused": .attribute, "timepasswordchanged": .attribute,
  ]

  /// The columns in which an export has attributes and companions of any name.
  static let attributePrefix = "attribute:"
  static let companionPrefix = "companion:"

  /// A column that neither the caller nor a program has named.
  private static func part(of column: String) -> Part {
    column.hasPrefix(attributePrefix) ? .attribute : known[column.lowercased()] ?? .companion
  }

  /// The name that a part has in the vault.
  private static func name(of column: String) -> String {
    let prefix = [attributePrefix, companionPrefix].first { column.hasPrefix($0) } ?? ""
    return String(column.dropFirst(prefix.count))
  }

  /// - Parameters:
  ///   - program: nil for any table.
  ///   - parts: The meaning of columns that the caller has decided, by their names.
  /// - Throws: as `CSVTable`; `headerUnknown`, for columns that are not those of the program, or without one for the secret;
  ///   `columnMissing`; `fieldTooLarge`.
  package static func items(
    of text: SourceText, from program: Program? = nil, parts: [(column: String, part: Part)] = []
  ) throws -> ForeignItems {
    let table = try CSVTable(text)
    let names = table.columns.map { $0.lowercased() }
    if let missing = parts.first(where: { !table.columns.contains($0.column) }) {
      throw ForeignError(.columnMissing, line: 1, missing.column)
    }
    guard program?.needed.allSatisfy(names.contains) ?? true else { throw ForeignError(.headerUnknown, line: 1) }
    let meanings = table.columns.map { column in parts.last { $0.column == column }?.part ?? part(of: column) }
    guard meanings.contains(.secret) || meanings.contains(.otp) else { throw ForeignError(.headerUnknown, line: 1) }
    var result = ForeignItems()
    for (column, part) in zip(table.columns, meanings) where part == .none {
      result.lost.append(LostPart(line: 1, what: column, .setting))
    }
    for row in table.rows { try result.add(entry(row, table, meanings)) }
    return result
  }

  private static func entry(_ row: CSVTable.Row, _ table: CSVTable, _ meanings: [Part]) throws -> ForeignEntry {
    var entry = ForeignEntry(line: row.line)
    var codes: [HeldSecret] = []
    for (index, cell) in row.cells.enumerated() where !cell.range.isEmpty {
      let value = try table.value(cell)
      switch meanings[index] {
      case .service: entry.service = value.text
      case .account where entry.user.isEmpty: entry.user = value.text
      case .account, .attribute: entry.add(name(of: table.columns[index]), text: value.text)
      case .secret where entry.secret == nil: entry.secret = (value, cell.range)
      case .secret, .companion: entry.add(name(of: table.columns[index]), secret: value)
      case .title: entry.title = value.text
      // Several stand in one cell of some programs.
      case .url: entry.places += value.text.split(whereSeparator: \.isNewline).map(String.init)
      case .notes: entry.add("notes", secret: value)
      case .otp: codes.append(value)
      case .folder: entry.folder = value.text
      case .none: break
      }
    }
    // The names are known now.
    for code in codes { try entry.add(otp: code) }
    return entry
  }
}
