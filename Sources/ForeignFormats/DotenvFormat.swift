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
      line += text.lineEnds(in: counted..<found.offset)
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
      result.items.append(ForeignItem(item, try value.finish(), line: line, value: found.value))
    }
    result.keepLast(listedBy: "account")
    return result
  }
}

extension SourceText {
  func isReference(_ range: Range<Int>) throws -> Bool { holds("coffer://", at: range.lowerBound) }
}

extension ForeignItems {
  /// If an item stands twice, the last value counts, as it does in the programs.
  mutating func keepLast(listedBy name: String) {
    var places: [[UInt8]: Range<Int>] = [:]
    for one in items { places[one.item.encoded] = one.value }
    leave(.otherKind, named: { $0.item[name] ?? "" }, where: { places[$0.item.encoded] != $0.value })
  }
}
