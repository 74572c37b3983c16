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

  /// The cost of a new passphrase.
  /// - Throws: `kdfBelowFloor`.
  package var kdf: KDFParameters {
    get throws(VaultError) {
      try KDFParameters(
        iterations: UInt32(clamping: value(.kdfPasses)), memoryKiB: UInt32(clamping: value(.kdfMemory)))
    }
  }

  /// This cost, or the limits that the owner has set if they are higher.
  /// - Throws: `kdfBelowFloor`.
  package func raised(_ kdf: KDFParameters) throws(VaultError) -> KDFParameters {
    try KDFParameters(
      iterations: max(kdf.iterations, UInt32(clamping: self[.kdfPasses] ?? 0)),
      memoryKiB: max(kdf.memoryKiB, UInt32(clamping: self[.kdfMemory] ?? 0)))
  }

  /// The cost of a slot that is to be sealed: as `raised`, or without a cost as `kdf`.
  /// - Throws: `kdfAboveCeiling` if this machine could not open a slot that costs what the limits say; `kdfBelowFloor`.
  package func cost(_ named: KDFParameters?, ceiling: KDFCeiling) throws(VaultError) -> KDFParameters {
    guard let named else {
      let kdf = try kdf
      if kdf != .standard, kdf != .lowMemory { try ceiling.check(kdf) }
      return kdf
    }
    let kdf = try raised(named)
    if kdf != named { try ceiling.check(kdf) }
    return kdf
  }
}
