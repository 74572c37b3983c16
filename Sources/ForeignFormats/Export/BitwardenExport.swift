package import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// The unencrypted JSON of Bitwarden: an item is a login.
package struct BitwardenExport: ExportFormat {
  private let folders: [String]

  package init(for outlines: [ExportedItem.Outline]) { folders = Set(outlines.map(\.folder)).subtracting([""]).sorted() }

  package var head: String {
    let list = folders.enumerated().map { #"{"id":"\#(Self.id($0.offset))","name":\#(JSONForm.string($0.element))}"# }
    return #"{"encrypted":false,"folders":[\#(list.joined(separator: ","))],"items":["# + "\n"
  }

  package var separator: String { ",\n" }
  package var tail: String { "\n]}\n" }
  package var holdsVersions: Bool { true }
  package var holdsNamesTwice: Bool { true }

  /// Bitwarden takes folders by identifiers of this form.
  private static func id(_ index: Int) -> String {
    let digits = "\(index + 1)"
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits
  }

  package func record(of item: ExportedItem) throws -> [HeldSecret]? {
    let outline = item.outline
    var fields: [(name: String, secret: HeldSecret, isHidden: Bool)] = []
    var (notes, code): (HeldSecret?, HeldSecret?)
    for companion in item.companions {
      switch companion.field {
      case "notes": notes = companion.secret
      case OneTimeCode.field where OneTimeCode.isURI(companion.secret): code = companion.secret
      default: fields.append((companion.field, companion.secret, true))
      }
    }
    let title = outline.item.label ?? outline.service
    for (name, text) in outline.texts + serviceField(outline, title) {
      fields.append((name, try HeldSecret(text: text), false))
    }
    let folder = folders.firstIndex(of: outline.folder).map { #""\#(Self.id($0))""# } ?? "null"
    let uris = outline.places.map { #"{"match":null,"uri":\#(JSONForm.string($0))}"# }.joined(separator: ",")
    var record = try TextBuilder()
    try record.append(#"{"type":1,"reprompt":0,"favorite":false,"folderId":\#(folder),"name":"#)
    try record.append(JSONForm.string(title) + #","notes":"#)
    try Self.write(notes, to: &record)
    try record.append(#","login":{"uris":[\#(uris)],"username":\#(JSONForm.string(outline.account)),"password":"#)
    try Self.write(item.secret, to: &record)
    try record.append(#","totp":"#)
    try Self.write(code, to: &record)
    try record.append(#"},"fields":["#)
    for (index, field) in fields.enumerated() {
      try record.append((index == 0 ? "" : ",") + #"{"name":\#(JSONForm.string(field.name)),"value":"#)
      try Self.write(field.secret, to: &record)
      try record.append(#","type":\#(field.isHidden ? 1 : 0)}"#)
    }
    try record.append(#"],"passwordHistory":["#)
    for (index, former) in Self.ordered(item.former).enumerated() {
      try record.append((index == 0 ? "" : ",") + #"{"lastUsedDate":\#(JSONForm.string(former.time)),"password":"#)
      try Self.write(former.secret, to: &record)
      try record.append("}")
    }
    try record.append("]}")
    return try record.finish()
  }

  /// The service, if the import would take the host or the title in its place.
  private func serviceField(_ outline: ExportedItem.Outline, _ title: String) -> [(name: String, text: String)] {
    var entry = ForeignEntry(line: 1)
    entry.title = title
    entry.places = outline.places
    return entry.name.utf8.elementsEqual(outline.service.utf8) ? [] : [(ForeignEntry.service, outline.service)]
  }

  /// The import, and Bitwarden, order passwords by their times: of those of one second, or of a clock that was set back, the thousandths say
  /// which one is older.
  private static func ordered(_ former: [ExportedItem.Former]) -> [ExportedItem.Former] {
    var latest = ""
    return former.enumerated().map { index, one in
      latest = max(latest, one.time)
      let thousandths = "\(1000 + index % 1000)".dropFirst()
      return .init(time: "\(latest.hasSuffix("Z") ? String(latest.dropLast()) : latest).\(thousandths)Z", secret: one.secret)
    }
  }

  private static func write(_ value: HeldSecret?, to record: inout TextBuilder) throws {
    guard let value else { return try record.append("null") }
    try record.append("\"")
    for offset in 0..<value.count { try JSONForm.forEachByte(of: value[offset]) { try record.append($0) } }
    try record.append("\"")
  }

  package func items(of text: SourceText, like _: ExportedItem) throws -> ForeignItems { try BitwardenFormat.items(of: text) }
}
