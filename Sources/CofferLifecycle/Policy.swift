import SecretMemory
package import VaultCore
import VaultUpkeep

extension Vault {
  /// Sets limits of the policy. A damaged policy is replaced as a whole, because its limits cannot be read.
  /// - Returns: The limits as they are now, and whether the policy was damaged.
  /// - Throws: `limitOutOfRange`, `locked`; integrity errors.
  package mutating func setLimits(_ changes: [Limits.Name: UInt64]) throws -> (limits: Limits, wasDamaged: Bool) {
    var (limits, wasDamaged) = (Limits(), false)
    do { limits = try self.limits() } catch let error as VaultError {
      guard error.code.concernsOneRecord else { throw error }
      wasDamaged = true
    }
    for (name, value) in changes { try limits.set(name, to: value) }
    let changed = limits
    try transaction { try $0.setLimits(changed) }
    return (changed, wasDamaged)
  }
}
