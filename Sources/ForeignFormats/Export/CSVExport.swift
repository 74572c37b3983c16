package import ProgramSecrets
internal import SecretMemory
internal import VaultCore

/// A table of passwords (RFC 4180), whose columns `coffer import csv` knows.
package struct CSVExport: ExportFormat {
  private static let columns = ["title", "url", "username", "password", "notes", "totp", "folder", "service"]
  /// Companions with a column of their own; that for codes takes URLs alone.
  private static let notes = "notes"

  private let texts: [String]
  private let fields: [String]

  /// - Parameter outlines: Those of all items: each name of an attribute or a companion is a column.
  package init(for outlines: [ExportedItem.Outline]) {
    texts = Set(outlines.flatMap { $0.texts.map(\.name) }).sorted()
    fields = Set(outlines.flatMap(\.fields)).subtracting([Self.notes]).sorted()
  }

  package var head: String {
    let names = Self.columns + texts.map { CSVFormat.attributePrefix + $0 } + fields.map { CSVFormat.companionPrefix + $0 }
    return names.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",") + "\n"
  }

  package var separator: String { "" }
  package var tail: String { "" }
  package var holdsVersions: Bool { false }
  package var holdsNamesTwice: Bool { true }

  package func record(of item: ExportedItem) throws -> [HeldSecret]? {
    let outline = item.outline
    let values = Dictionary(outline.texts.map { ($0.name, $0.text) }) { first, _ in first }
    let companions = Dictionary(item.companions.map { ($0.field, $0.secret) }) { first, _ in first }
    let code = companions[OneTimeCode.field].flatMap { OneTimeCode.isURI($0) ? $0 : nil }
    var cells: [HeldSecret?] = [
      try HeldSecret(text: outline.item.label ?? ""), try HeldSecret(text: outline.places.joined(separator: "\n")),
      try HeldSecret(text: outline.account), item.secret, companions[Self.notes], code, try HeldSecret(text: outline.folder),
      try HeldSecret(text: outline.service),
    ]
    cells += try texts.map { try HeldSecret(text: values[$0] ?? "") }
    cells += fields.map { $0 == OneTimeCode.field && code != nil ? nil : companions[$0] }
    var record = try TextBuilder()
    for (index, cell) in cells.enumerated() {
      if index > 0 { try record.append(",") }
      if let cell { try Self.write(cell, to: &record) }
    }
    try record.append("\n")
    return try record.finish()
  }

  private static func write(_ value: HeldSecret, to record: inout TextBuilder) throws {
    guard value.count > 0 else { return }
    let quote = UInt8(ascii: "\"")
    try record.append(quote)
    for offset in 0..<value.count {
      let byte = value[offset]
      if byte == quote { try record.append(quote) }
      try record.append(byte)
    }
    try record.append(quote)
  }

  package func items(of text: SourceText, like _: ExportedItem) throws -> ForeignItems { try CSVFormat.items(of: text) }
}
