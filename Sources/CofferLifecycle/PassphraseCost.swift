package import SecretMemory
package import VaultCore

extension Limits {
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
