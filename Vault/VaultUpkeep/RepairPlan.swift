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

  package init(id: Identifier, outcome: Outcome, reason: VaultError.Code? = nil) {
    (self.id, self.outcome, self.reason) = (id, outcome, reason)
  }
}

/// The outcome of a repair, before it is carried out.
package struct RepairPlan: Equatable, Sendable {
  /// In ascending order of identifiers.
  package var records: [RepairedRecord]
  /// Records that stay as they are.
  package var keptCount: UInt64
  /// Nodes that are damaged, and those that no node lists.
  package var nodeCount: Int
  /// Whether the header counts other records than the tree lists.
  package var isMiscounted: Bool
  /// Former versions that an item names and that are not there, and those that no item names.
  package var historyFaultCount: Int

  package init(
    records: [RepairedRecord] = [], keptCount: UInt64 = 0, nodeCount: Int = 0, isMiscounted: Bool = false,
    historyFaultCount: Int = 0
  ) {
    (self.records, self.keptCount, self.nodeCount) = (records, keptCount, nodeCount)
    (self.isMiscounted, self.historyFaultCount) = (isMiscounted, historyFaultCount)
  }

  package var isSound: Bool { records.isEmpty && nodeCount == 0 && !isMiscounted && historyFaultCount == 0 }

  package func count(_ outcome: RepairedRecord.Outcome) -> Int { records.count { $0.outcome == outcome } }
}
