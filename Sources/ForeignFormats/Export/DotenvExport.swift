package import ProgramSecrets
internal import SecretMemory

/// Variables for `coffer run --env-file` and other programs: the account of an item is the name of its variable.
package struct DotenvExport: ExportFormat {
  package init() {}

  package var head: String { "" }
  package var separator: String { "" }
  package var tail: String { "" }
  package var holdsVersions: Bool { false }
  package var holdsNamesTwice: Bool { false }

  package func record(of item: ExportedItem) throws -> [HeldSecret]? {
    guard VariableName.isIdentifier(item.outline.account) else { return nil }
    var record = try TextBuilder()
    try record.append("\(item.outline.account)=")
    // Shells and other readers agree about single quotes.
    let isLiteral = !item.secret.contains("'")
    try record.append(isLiteral ? "'" : "\"")
    for offset in 0..<item.secret.count {
      let byte = item.secret[offset]
      if !isLiteral, "\"\\$".utf8.contains(byte) { try record.append("\\") }
      try record.append(byte)
    }
    try record.append(isLiteral ? "'\n" : "\"\n")
    return try record.finish()
  }

  /// `coffer run` would replace a reference, wherever it stands in the value.
  package func items(of text: SourceText, like item: ExportedItem) throws -> ForeignItems {
    guard !item.secret.contains("coffer://") else { return ForeignItems() }
    return try DotenvFormat.items(of: text, service: item.outline.service)
  }
}
