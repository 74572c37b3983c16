import SecretMemory
public import VaultCore

extension Vault {
  /// The removed items that can be restored, in the order of their rows: proven to be all. A walk over all former versions.
  /// Those that do not open here are left out.
  /// - Throws: integrity errors.
  public borrowing func removedItems() throws -> [ItemHistory] {
    try reading { state, _ in
      let directory = try GroupDirectory(state)
      var removed: [ItemHistory] = []
      func refuse(_ damage: VaultError) throws { throw damage }
      try state.forEachRecord(.history, damaged: refuse) { record, _ in
        do {
          guard let group = try directory.group(record.group) else { throw VaultError(.unknownGroup) }
          let former = try state.openFormer(record, in: group)
          if former.isRemoved { removed.append(former.history(in: group)) }
        } catch let error as VaultError {
          guard error.code.meansSealedElsewhere else { throw error }
        }
      }
      return removed
    }
  }
}
