package import SecretMemory
package import VaultCore

extension Verification {
  /// Whether everything in the vault proves and opens. A name that writers refuse is the work of another program, and no damage: a repair
  /// keeps the item, and it must not keep its owner from new keys.
  package var isIntact: Bool { VaultError.Code.areOfNamesAlone(problems, of: problemCount) }
}

extension VaultError.Code {
  /// Whether the problems are all that were found, and concern the names of items alone.
  package static func areOfNamesAlone(_ problems: [VaultError], of count: UInt64) -> Bool {
    count == UInt64(problems.count { $0.code == .nameNotAllowed || $0.code == .nameTooLong })
  }
}
