internal import ProgramSecrets
internal import VaultCore

/// A file of variables, as `coffer run --env-file` reads it.
package enum DotenvFormat {
  /// - Parameter service: The service of the items, whose accounts are the names of the variables.
  /// - Throws: `TextError`; `fieldTooLarge`.
  package static func items(of text: SourceText, service: String) throws -> ForeignItems {
    var result = ForeignItems()
    var reader = AssignmentReader(text)
    var (line, counted) = (1, 0)
    while let found = try reader.next() {
      for offset in counted..<found.offset where text[offset] == SourceText.lineFeed { line += 1 }
      counted = found.offset
      guard !found.value.isEmpty else {
        result.lost.append(LostPart(line: line, what: found.name, .noSecret))
        continue
      }
      var value = try SecretBuilder()
      try found.forEachByte(of: text) { try value.append($0, line: line) }
      let item = Item(service: service, account: found.name)
      guard try !text.isReference(found.value) else {
        result.lost.append(LostPart(line: line, what: found.name, .elsewhere))
        continue
      }
      result.add(ForeignItem(item, try value.finish(), line: line, value: found.value))
    }
    return result
  }
}

extension SourceText {
  func isReference(_ range: Range<Int>) throws -> Bool { holds("coffer://", at: range.lowerBound) }
}

extension ForeignItems {
  /// If a name stands twice, the last value counts, as it does in the programs.
  mutating func add(_ item: ForeignItem) {
    items.removeAll { $0.item == item.item }
    items.append(item)
  }
}
