public import SecretMemory
public import VaultCore

extension Vault {
  /// The removed items that can be restored, in the order of their rows: proven to be all. A walk over all former versions.
  /// Those that do not open here are left out.
  /// - Parameter damaged: Called for each record that is damaged: it may be a removed item, or a former version of any item. The walk goes
  ///   on if it returns.
  /// - Throws: integrity errors; the error of `damaged`.
  public borrowing func removedItems(damaged: (VaultError) throws -> Void = { throw $0 }) throws -> [ItemHistory] {
    try reading { state, _ in
      // Without its group each row is damaged.
      let directory = try GroupDirectory(state, damaged: { _ in })
      var removed: [ItemHistory] = []
      try state.forEachRecord(.history, damaged: damaged) { record, _ in
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
