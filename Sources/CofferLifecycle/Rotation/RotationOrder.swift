package import CofferStorage
internal import SecretMemory
package import VaultCore

/// The new keys that a rotation is to make.
package struct RotationOrder: Equatable, Sendable {
  /// nil: those of all groups, and the master key.
  package var groups: [AccessGroup]?
  package var isMasterOnly = false
  /// Whether the class keys of this device get boxes of a new device key, in the commit of the master key.
  package var renewsDevice = false
  /// Slots that are gone afterwards, by their numbers.
  package var droppedSlots: Set<Int> = []
  /// Whether a recovery key that opened the vault is made anew, too. Others are in any case, because no person types them in.
  package var renewsRecoveryKey = false
  /// Whether items that do not open here keep their keys.
  package var leavesDeviceItems = false
  /// Whether the credential that opened the vault is known to others.
  package var isLeaked = false
  /// The cost of the credential in the place of the one that opened the vault; nil: that of its slot.
  package var kdf: KDFParameters?
  /// Whether the backup that is made before stays, though it opens with a credential of before.
  package var keepsBackup = false
  /// Whether the vault's backups of before are removed at the end.
  package var prunesBackups = false

  package init() {}

  package var renewsMaster: Bool { groups == nil }
  package var removesBackup: Bool { (isLeaked || prunesBackups) && !keepsBackup }
}

/// The new keys that a rotation is about to make. It is shown before anything is changed.
package struct RotationPlan: Equatable, Sendable {
  package struct Slot: Equatable, Sendable {
    package let description: SlotDescription
    /// The cost of the slot in its place.
    package let kdf: KDFParameters
    /// Whether it opened the vault. If not, its present credential is asked for.
    package let isOpened: Bool
    /// Whether it gets a recovery key that is made now.
    package let isNewRecoveryKey: Bool

    package init(_ description: SlotDescription, kdf: KDFParameters, isOpened: Bool, isNewRecoveryKey: Bool) {
      (self.description, self.kdf) = (description, kdf)
      (self.isOpened, self.isNewRecoveryKey) = (isOpened, isNewRecoveryKey)
    }
  }

  /// The slots of the new master key; none if it stays.
  package let slots: [Slot]
  /// Those of unfinished rotations first.
  package let groups: [AccessGroup]

  package init(slots: [Slot], groups: [AccessGroup]) { (self.slots, self.groups) = (slots, groups) }
}

/// A credential for a slot of the new master key.
package struct SlotCredentials: ~Copyable {
  /// One that opens the slot as it is; nil for the slot that opened the vault, and for a recovery key that is made now.
  package let present: Credential?
  package let new: Credential

  package init(present: consuming Credential?, new: consuming Credential) {
    self.present = present
    self.new = new
  }
}

/// The side of the person in a rotation: a terminal and options, or a client of the agent. An error that a call throws ends the work after
/// the transaction at hand.
package protocol RotationParty {
  /// A part of the work begins. The first one after `prepare` comes after the commit of the master key.
  func begin(_ part: String) throws
  func step(_ done: UInt64, of total: UInt64) throws
  /// - Throws: If the plan is declined, or a credential that it takes cannot be had.
  func agree(to plan: RotationPlan) throws
  /// Called again for the same slot if the credential was not the one of the slot.
  func credentials(for slot: RotationPlan.Slot) throws -> SlotCredentials
  /// The backup is there, and the first commit follows: recovery keys are written down by now.
  func prepare(backup: String) throws
  /// Runs the commit of the master key, while no other program is served.
  func excluding(_ commit: () throws -> Void) throws
}

/// The result of a rotation.
package struct RotationOutcome: Equatable, Sendable {
  package let generation: UInt64
  package let masterEpoch: UInt32
  package let slotCount: Int
  package let groupCount: Int
  /// Why the file has not been rebuilt, or its log not brought in, so that bytes of rows under old keys may be left in one of the two; nil
  /// if both were done. `busy`: another program reads or writes.
  package let restsReason: StorageError.Code?
  /// The paths of backups that were removed, and of those that are left.
  package let removed: [String]
  package let left: [String]
  /// The path of the new key of this device. nil if it was not made anew.
  package let deviceKey: String?
  /// The path of a key that is left beside the new one, because other vaults may use it. nil if there is none.
  package let sharedDeviceKey: String?

  package init(
    generation: UInt64, masterEpoch: UInt32, slotCount: Int, groupCount: Int, restsReason: StorageError.Code?, removed: [String],
    left: [String],
    deviceKey: String? = nil, sharedDeviceKey: String? = nil
  ) {
    (self.generation, self.masterEpoch) = (generation, masterEpoch)
    (self.slotCount, self.groupCount) = (slotCount, groupCount)
    (self.restsReason, self.removed, self.left) = (restsReason, removed, left)
    (self.deviceKey, self.sharedDeviceKey) = (deviceKey, sharedDeviceKey)
  }
}

/// A walk through the vault has found problems, before a rotation or after it.
package struct DamagedVault: Error {
  package let verification: Verification
}
