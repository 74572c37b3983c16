import SecretMemory

/// Access rules.
extension Transaction {
  /// Writes a rule, in place of the one of the same name.
  /// - Throws: `accessRuleMalformed`; integrity errors.
  package mutating func putRule(_ attributes: Attributes) throws {
    guard let rule = try AccessRule(attributes) else { throw VaultError(.accessRuleMalformed, "of a later version") }
    let meta = RecordMeta(kind: .accessRule, accessibility: .whenUnlocked, epoch: state.header.masterEpoch, version: generation)
    let id = try rule.name.recordID(keys)
    try edit(id, try keys.sealSystemRecord(id, meta: meta, attributes: TLV.encode(attributes), secret: try Secret(count: 0)))
  }

  /// The rule of this name; nil is a proven absence.
  package mutating func rule(_ name: AccessRule.Name) throws -> AccessRule? {
    let id = try name.recordID(keys)
    guard let leaf = try tree.leaf(id) else { return nil }
    let written = change.records[id].flatMap(\.self)
    return try state.openAccessRule(
      written?.head ?? state.record(id, expecting: leaf), secret: written?.secret, upTo: generation)
  }

  /// - Throws: `notFound`; faults of the tree.
  package mutating func removeRule(_ name: AccessRule.Name) throws {
    let id = try name.recordID(keys)
    guard try tree.leaf(id) != nil else { throw VaultError(.notFound) }
    try edit(id, nil)
  }
}
