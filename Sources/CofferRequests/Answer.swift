package import AccessRights
package import SecretMemory
package import VaultCore

/// The answer to a request. A refusal is a `KeychainError`.
package enum Answer: ~Copyable, Sendable {
  case done
  /// - damagedHead: The damage of a removed item of the same name, whose versions the item was to take over. They wait for a repair.
  case reference(Reference, damagedHead: VaultError? = nil)
  /// - entry: The item; for programs that need it with each secret.
  case secret(Secret, entry: Entry? = nil)
  /// - application: `TEAM.identifier`, for an app.
  case entitlements(Entitlements, application: String?)
  case entries(Entries)
  case flag(Bool)
  case status(AgentStatus)
  /// Slots, pins, grants and the like.
  case rows([Attributes])

  /// The items that were found, and a count of those that could not be read.
  package struct Entries: Equatable, Sendable {
    /// Damaged records that are listed one by one; of others only the number is known.
    package static let damagedLimit = 64

    package var entries: [Entry] = []
    /// Items that do not open here: of other devices, or of classes that are locked.
    package var unavailableCount: UInt64 = 0
    package var damagedCount: UInt64 = 0
    /// The first ones of the damaged records.
    package var damaged: [VaultError] = []

    package init(_ entries: [Entry] = []) { self.entries = entries }

    package mutating func append(_ damage: VaultError) {
      damagedCount += 1
      if damaged.count < Self.damagedLimit { damaged.append(damage) }
    }
  }

  /// The item that was added, or where it lies after a change.
  package var newReference: Reference? {
    borrowing get {
      switch self {
      case .reference(let reference, damagedHead: _): reference
      default: nil
      }
    }
  }
}

package struct AgentStatus: Equatable, Sendable {
  package var isLocked: Bool
  /// Whether it was unlocked since the agent runs: then items of the class "after first unlock" can be read though it is locked.
  package var wasUnlocked: Bool
  /// The file of the vault.
  package var vault: String

  package init(isLocked: Bool, wasUnlocked: Bool, vault: String) {
    self.isLocked = isLocked
    self.wasUnlocked = wasUnlocked
    self.vault = vault
  }
}
