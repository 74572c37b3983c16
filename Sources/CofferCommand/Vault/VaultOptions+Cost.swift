import CofferConsole
import CofferLifecycle
import SecretMemory
import VaultCore

extension VaultOptions {
  /// The cost of a new slot of this type, whose policy is known.
  /// - Parameter named: As the options of the slot name it; nil: as the policy says.
  /// - Throws: `kdfAboveCeiling`, because this machine could not open the slot again.
  func cost(_ named: KDFParameters?, _ limits: Limits, of type: SlotType) throws -> KDFParameters {
    try type.hasPassphrase ? limits.cost(named, ceiling: ceiling) : .standard
  }
}

extension Limits {
  /// A damaged policy prevents no change of a passphrase.
  static var replacingDamaged: Limits {
    Descriptor.error.note("note: the vault's policy is damaged, and the standard cost is taken: coffer vault repair\n")
    return Limits()
  }
}
