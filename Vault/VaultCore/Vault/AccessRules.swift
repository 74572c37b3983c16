package import SecretMemory

extension Vault {
  /// The rule of this name; nil is a proven absence.
  /// - Throws: `locked` if a locked vault does not know it; integrity errors.
  package borrowing func rule(_ name: AccessRule.Name) throws -> AccessRule? {
    try reading { state, _ in
      if let kept = state.keys.kept { return try kept.rule(name, in: state) }
      return try state.record(name.recordID(state.keys)).flatMap { try state.openAccessRule($0) }
    }
  }

  /// All rules, proven to be all. Of a locked vault those that were not changed since it was locked.
  /// - Parameter damaged: is told of each record that is missing or damaged. It is left out if that returns.
  /// - Throws: faults of the tree; what `damaged` throws.
  package borrowing func rules(damaged: (VaultError) throws -> Void = { throw $0 }) throws -> [AccessRule] {
    try reading { state, _ in
      if let kept = state.keys.kept { return try kept.rules(in: state) }
      var rules: [AccessRule] = []
      try state.forEachRecord(.accessRule, damaged: damaged) { record, meta in
        if meta.kind == .accessRule, let rule = try state.openAccessRule(record) { rules.append(rule) }
      }
      return rules
    }
  }
}

extension ProvenState {
  /// Opens a record, which must be proven. Returns nil for a rule of a later version.
  /// - Parameters:
  ///   - secret: The record's column `s`, if it was not read from the store.
  ///   - generation: The newest that a record may be of, if that is not the header's.
  /// - Throws: `recordMalformed`, `sealBroken`, `accessRuleMalformed`, `identifierMismatch`; what proving throws.
  package func openAccessRule(_ record: RecordHead, secret: [UInt8]? = nil, upTo generation: UInt64? = nil) throws -> AccessRule?
  {
    let meta = try RecordMeta(parsing: record, header: header, upTo: generation)
    guard meta.kind == .accessRule else { throw VaultError(.recordMalformed, "no access rule") }
    let attributes = try keys.openSystem(.attributes, record.attributes, of: record, meta: meta)
    let secretCount = try keys.openSystem(.secret, secret ?? self.secret(of: record), of: record, meta: meta).count
    guard let rule = try AccessRule(decoding: attributes.copyIntoUnprotectedBytes()) else { return nil }
    guard secretCount == 0 else { throw VaultError(.accessRuleMalformed, "with a secret") }
    guard try rule.name.recordID(keys) == record.id else { throw VaultError(.identifierMismatch, "an access rule") }
    return rule
  }
}
