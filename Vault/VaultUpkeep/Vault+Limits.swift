public import SecretMemory
public import VaultCore

extension Transaction {
  /// - Throws: `locked`; integrity errors.
  public mutating func setLimits(_ limits: Limits) throws {
    let id = try keys.policyID("limits")
    var attributes = limits.attributes
    attributes["policy"] = .text("limits")
    let meta = RecordMeta(kind: .policy, accessibility: .whenUnlocked, epoch: state.header.masterEpoch, version: generation)
    try edit(id, try keys.sealSystemRecord(id, meta: meta, attributes: TLV.encode(attributes), secret: try Secret(count: 0)))
  }
}

extension Vault {
  /// The limits that the owner has set. Of a locked vault those that were set when it was locked.
  /// - Throws: integrity errors.
  public borrowing func limits() throws -> Limits { try reading { state, _ in try state.limits() } }
}

extension Limits {
  /// - Throws: `limitOutOfRange`.
  public mutating func set(_ name: Name, to value: UInt64) throws(VaultError) {
    guard name.range.contains(value) else {
      throw VaultError(.limitOutOfRange, "\(name.rawValue): \(value) is not \(name.range.lowerBound) to \(name.range.upperBound)")
    }
    attributes[name.rawValue] = .integer(value)
  }
}
