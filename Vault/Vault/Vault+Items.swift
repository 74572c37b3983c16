/// Items and groups, each call a transaction of its own. What they throw is what `Transaction`'s calls of the same name throw.
extension Vault {
  @discardableResult
  public mutating func add(
    _ item: Item, secret: borrowing Secret, to group: AccessGroup = .standard, accessible: Accessibility = .whenUnlocked,
    at now: Timestamp
  ) throws -> Reference {
    try transaction { try $0.add(item, secret: secret, to: group, accessible: accessible, at: now) }
  }

  @discardableResult
  public mutating func update(_ reference: Reference, at now: Timestamp, _ change: (inout Item) throws -> Void) throws
    -> Reference
  {
    try transaction { try $0.update(reference, at: now, change) }
  }

  @discardableResult
  public mutating func update(
    _ reference: Reference, secret: borrowing Secret, at now: Timestamp, _ change: (inout Item) throws -> Void = { _ in }
  ) throws -> Reference {
    try transaction { try $0.update(reference, secret: secret, at: now, change) }
  }

  public mutating func remove(_ reference: Reference) throws {
    try transaction { try $0.remove(reference) }
  }

  @discardableResult
  public mutating func move(_ reference: Reference, to group: AccessGroup, at now: Timestamp) throws -> Reference {
    try transaction { try $0.move(reference, to: group, at: now) }
  }

  public mutating func createGroup(_ group: AccessGroup, at now: Timestamp) throws {
    try transaction { try $0.createGroup(group, at: now) }
  }

  /// By the item's primary attributes: one proven look-up, at any size of the vault. Nil is a proven absence.
  /// - Throws: `groupNotFound`; `deviceKeyMissing`, `wrongDeviceKey`; integrity errors.
  public borrowing func entry(_ item: Item, in group: AccessGroup = .standard) throws -> Entry? {
    try reading { state, keyring in
      let group = try Self.group(group, state, keyring)
      return try Self.find(group.itemID(item), group, state).map { try state.openItem($0.record, meta: $0.meta, group: group) }
    }
  }

  /// - Throws: `notFound`, `groupNotFound`; `deviceKeyMissing`, `wrongDeviceKey`; integrity errors.
  public borrowing func entry(_ reference: Reference) throws -> Entry {
    try reading { state, keyring in
      let group = try Self.group(reference.group, state, keyring)
      guard let found = try Self.find(reference.id, group, state) else { throw VaultError(.notFound) }
      return try state.openItem(found.record, meta: found.meta, group: group)
    }
  }

  /// - Throws: as `entry`.
  public borrowing func secret(of reference: Reference) throws -> Secret {
    try reading { state, keyring in
      let group = try Self.group(reference.group, state, keyring)
      guard let found = try Self.find(reference.id, group, state) else { throw VaultError(.notFound) }
      return try state.openSecret(found.record, meta: found.meta, group: group)
    }
  }

  /// An item with its secret, by the item's primary attributes: one transaction, so that the way to it is proven once. Nil is a
  /// proven absence.
  /// - Throws: as `entry`.
  public borrowing func entryWithSecret(_ item: Item, in group: AccessGroup = .standard) throws -> EntryWithSecret? {
    try reading { state, keyring in
      let group = try Self.group(group, state, keyring)
      guard let found = try Self.find(group.itemID(item), group, state) else { return nil }
      return EntryWithSecret(
        entry: try state.openItem(found.record, meta: found.meta, group: group),
        secret: try state.openSecret(found.record, meta: found.meta, group: group))
    }
  }

  private static func group(_ group: AccessGroup, _ state: ProvenState, _ keyring: Keyring) throws -> GroupKeys {
    guard let keys = try keyring.group(group, in: state) else { throw VaultError(.groupNotFound, group.name) }
    return keys
  }

  private static func find(
    _ id: Identifier, _ group: GroupKeys, _ state: ProvenState
  ) throws -> (record: SealedRecord, meta: RecordMeta)? {
    guard let record = try state.record(id) else { return nil }
    return (record, try state.itemMeta(record, in: group))
  }

  // MARK: Walks

  /// The groups, ordered by name.
  /// - Throws: integrity errors.
  public borrowing func groups() throws -> [AccessGroup] {
    try reading { state, _ in
      var groups: [AccessGroup] = []
      try state.forEachRecord { record, meta in
        if meta.kind == .group { groups.append(try state.keys.openGroup(record, meta: meta).group) }
      }
      return groups.sorted()
    }
  }

  /// The items that `isIncluded` wants, of one group or of all. Complete, and proven to be: that takes a walk over every record of
  /// the vault, about 4 us for each.
  /// - Throws: `groupNotFound`; integrity errors.
  public borrowing func entries(in group: AccessGroup? = nil, where isIncluded: (Entry) -> Bool = { _ in true }) throws
    -> EntryList
  {
    try reading { state, _ in
      let groups = try state.allGroups()
      if let group, !groups.values.contains(where: { $0.group == group }) {
        guard try state.groupKeys(group) == nil else { throw VaultError(.unknownGroup, group.name) }
        throw VaultError(.groupNotFound, group.name)
      }
      var entries: [Identifier: [Entry]] = [:]
      var unavailableCount = 0
      try state.forEachRecord { record, meta in
        if meta.kind == .group { try Self.check(try state.keys.openGroup(record, meta: meta), isIn: groups) }
        guard meta.kind == .item else { return }
        guard let itemGroup = groups[record.group] else { throw VaultError(.unknownGroup, "\(record.group)") }
        guard group.map({ $0 == itemGroup.group }) ?? true else { return }
        do {
          let entry = try state.openItem(record, meta: meta, group: itemGroup)
          if isIncluded(entry) { entries[record.group, default: []].append(entry) }
        } catch let error as VaultError where error.code == .deviceKeyMissing || error.code == .wrongDeviceKey {
          unavailableCount += 1
        }
      }
      // The walk is ascending, so each group's entries are in order already.
      let ordered = groups.values.sorted { $0.group < $1.group }.flatMap { entries.removeValue(forKey: $0.groupID) ?? [] }
      return EntryList(entries: ordered, unavailableCount: unavailableCount)
    }
  }

  /// The index that found the groups may have kept one back.
  private static func check(_ group: GroupKeys, isIn groups: [Identifier: GroupKeys]) throws {
    guard groups[group.groupID]?.group == group.group else { throw VaultError(.unknownGroup, group.group.name) }
  }
}
