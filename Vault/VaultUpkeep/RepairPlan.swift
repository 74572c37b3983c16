package import SecretMemory
package import VaultCore

/// A record that a repair does not keep as it is.
package struct RepairedRecord: Equatable, Sendable {
  package enum Outcome: String, Sendable {
    /// Listed by the tree, and missing, forged or closed.
    case lost
    /// Its node is damaged, but the row opens: maybe an older state, maybe a record that was removed. Lost as well.
    case unproven
    /// The same, kept because the caller accepts such records.
    case accepted
    /// Proven in the backup, and taken from there.
    case fromBackup = "from-backup"
    /// No node lists it, and no node above it is damaged.
    case removed
  }

  package let id: Identifier
  package var outcome: Outcome
  /// The fault of the row; nil if the row itself is sound.
  package var reason: VaultError.Code?
  package var kind: RecordKind?
  package var group: AccessGroup?
  package var generation: UInt64?
  /// If its attributes open.
  package var item: Item?
}

/// The outcome of a repair, before it is carried out.
package struct RepairPlan: Equatable, Sendable {
  /// In ascending order of identifiers.
  package internal(set) var records: [RepairedRecord] = []
  /// Records that stay as they are.
  package internal(set) var keptCount: UInt64 = 0
  /// Nodes that are damaged, and those that no node lists.
  package internal(set) var nodeCount = 0
  /// Whether the header counts other records than the tree lists.
  package internal(set) var isMiscounted = false
  /// Former versions that an item names and that are not there, and those that no item names.
  package internal(set) var historyFaultCount = 0

  package var isSound: Bool { records.isEmpty && nodeCount == 0 && !isMiscounted && historyFaultCount == 0 }

  package func count(_ outcome: RepairedRecord.Outcome) -> Int { records.count { $0.outcome == outcome } }
}
