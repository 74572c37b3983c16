public import SecretMemory
public import VaultCore

/// An item with the versions before its present value, or a removed item with all of its versions.
public struct ItemHistory: Equatable, Sendable {
  /// The item as it is, or as it was when it was removed.
  public let entry: Entry
  /// The time at which the item was removed; nil if it is there.
  public let removed: Timestamp?
  /// The versions before that of `entry`, newest first.
  public let former: [FormerVersion]
}

extension FormerItem {
  package func history(in group: GroupKeys) -> ItemHistory {
    let entry = Entry(
      reference: Reference(group: group.group, id: version.origin), item: item, accessibility: meta.accessibility,
      generation: meta.version, version: version.number)
    return ItemHistory(entry: entry, removed: version.replaced, former: former)
  }
}

extension ProvenState {
  fileprivate func history(of reference: Reference, in group: GroupKeys) throws -> ItemHistory {
    if let record = try record(reference.id) {
      let entry = try openItem(record, meta: itemMeta(record, in: group), group: group)
      return ItemHistory(entry: entry, removed: nil, former: entry.former)
    }
    guard let removed = try removed(reference.id, in: group) else { throw VaultError(.notFound) }
    return removed
  }

  fileprivate func removed(_ id: Identifier, in group: GroupKeys) throws -> ItemHistory? {
    try record(group.historyID(id, .max)).map { try openFormer($0, in: group).history(in: group) }
  }
}

extension Vault {
  /// The versions of an item, also of a removed one: two look-ups at most, and no secret is read.
  /// - Throws: `notFound`, `groupNotFound`; integrity errors.
  public borrowing func history(of reference: Reference) throws -> ItemHistory {
    try reading { state, keyring in try state.history(of: reference, in: keyring.existing(reference.group, in: state)) }
  }

  /// A removed item, by its primary attributes: one look-up. nil is a proven absence.
  /// - Throws: `groupNotFound`; integrity errors, if the item is damaged.
  public borrowing func removedItem(_ item: Item, in group: AccessGroup = .standard) throws -> ItemHistory? {
    try reading { state, keyring in
      let group = try keyring.existing(group, in: state)
      return try state.removed(group.itemID(item), in: group)
    }
  }

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
