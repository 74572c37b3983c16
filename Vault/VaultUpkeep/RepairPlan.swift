package import SecretMemory
package import VaultCore

/// A record that a repair does not keep as it is.
package struct RepairedRecord: Equatable, Sendable {
  package enum Outcome: String, Sendable {
    /// Listed by the tree, and missing, forged or closed.
    case lost
    /// The row opens, but its node, or that of its group, is damaged: maybe an older state, maybe a record that was removed. It does not
    /// stay. So is a row below a damaged node that takes the key of another device to open.
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
  /// The generation of the row here, if it is not damaged, and newer than that of the backup, which takes its place.
  package var replaced: UInt64?
  /// If its attributes open.
  package var item: Item?

  package init(id: Identifier, outcome: Outcome, reason: VaultError.Code? = nil) {
    (self.id, self.outcome, self.reason) = (id, outcome, reason)
  }
}

/// The outcome of a repair, before it is carried out.
package struct RepairPlan: Equatable, Sendable {
  /// In ascending order of identifiers.
  package var records: [RepairedRecord] = []
  /// Records that stay as they are.
  package var keptCount: UInt64 = 0
  /// Those of them that do not open here, because they take the key of another device.
  package var unopenedCount: UInt64 = 0
  /// Nodes that are damaged, and those that no node lists.
  package var nodeCount = 0
  /// Rows whose identifier is none. They go: no node can list them.
  package var namelessCount = 0
  /// Whether the header counts other records than the tree lists.
  package var isMiscounted = false
  /// Former versions that an item names and that are not there, and those that no item names.
  package var historyFaultCount = 0
  /// Whether the group `default` is lost, and made anew.
  package var makesStandardGroup = false

  package init() {}

  package var isSound: Bool {
    records.isEmpty && nodeCount == 0 && namelessCount == 0 && !isMiscounted && historyFaultCount == 0 && !makesStandardGroup
  }
  /// Records that are not damaged, and do not stay.
  package var droppedCount: Int { records.count { $0.outcome == .unproven || $0.replaced != nil } }
  /// The records of the repaired vault.
  package var recordCount: UInt64 { keptCount + UInt64(count(.accepted) + count(.fromBackup) + (makesStandardGroup ? 1 : 0)) }

  package func count(_ outcome: RepairedRecord.Outcome) -> Int { records.count { $0.outcome == outcome } }
}
