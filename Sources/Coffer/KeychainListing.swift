package import CofferRequests
package import VaultCore

/// The items that a search found, and the records that could not be read.
package struct KeychainListing: Sendable {
  package let entries: [Entry]
  /// Items that do not open here: of other devices, or of classes that are locked.
  package let unavailableCount: Int
  package let damagedCount: Int
  /// The first damaged records.
  package let damaged: [KeychainError]

  init(_ found: Answer.Entries) {
    entries = found.entries
    unavailableCount = Int(clamping: found.unavailableCount)
    damagedCount = Int(clamping: found.damagedCount)
    damaged = found.damaged.map { KeychainError(.integrity, cause: .vault($0.code), $0.detail) }
  }
}

/// How much an agent has open.
package enum AgentState: Sendable, Equatable {
  case locked
  /// Locked, but items of the class "after first unlock" can be used.
  case lockedAfterUnlock
  case unlocked

  init(_ status: AgentStatus) {
    self = !status.isLocked ? .unlocked : status.wasUnlocked ? .lockedAfterUnlock : .locked
  }
}
