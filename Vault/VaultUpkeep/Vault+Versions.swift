public import SecretMemory
public import VaultCore

extension Vault {
  /// The secret of one version of an item: a former one, the present one, or one of a removed item.
  /// - Throws: `notFound`, `versionNotFound`, `groupNotFound`; `historyMissing` and other integrity errors.
  public borrowing func secret(of reference: Reference, version number: UInt64) throws -> Secret {
    try reading { state, keyring in
      let group = try keyring.existing(reference.group, in: state)
      let history = try state.history(of: reference, in: group)
      var id = reference.id
      if let version = history.former.first(where: { $0.number == number }) {
        id = group.historyID(version.origin, number)
      } else if number != history.entry.version {
        throw VaultError(.versionNotFound, "\(number)")
      } else if history.removed != nil {
        id = group.historyID(reference.id, .max)
      }
      guard let record = try state.record(id) else { throw VaultError(.historyMissing, "version \(number)") }
      if id != reference.id { _ = try state.openFormer(record, in: group) }
      return try state.openSecret(record, meta: RecordMeta(parsing: record, header: state.header), group: group)
    }
  }
}
