public import SecretMemory

/// Items and groups, each call a transaction of its own. They throw as the methods of `Transaction` with the same name.
extension Vault {
  /// Adds an item in a commit of its own, as `Transaction.add` does.
  /// - Throws: The errors of `Transaction.add`; the errors of the store.
  @discardableResult
  public mutating func add(
    _ item: Item, secret: borrowing Secret, to group: AccessGroup = .standard, accessible: Accessibility = .whenUnlocked,
    at now: Timestamp
  ) throws -> Reference {
    try transaction { try $0.add(item, secret: secret, to: group, accessible: accessible, at: now) }
  }

  /// Changes an item in a commit of its own, as `Transaction.update` does.
  /// - Throws: The errors of `Transaction.update`; the errors of the store.
  @discardableResult
  public mutating func update(
    _ reference: Reference, accessible: Accessibility? = nil, at now: Timestamp, _ change: (inout Item) throws -> Void
  ) throws -> Reference {
    try transaction { try $0.update(reference, accessible: accessible, at: now, change) }
  }

  /// Changes an item in a commit of its own, as `Transaction.update` does.
  /// - Throws: The errors of `Transaction.update`; the errors of the store.
  @discardableResult
  public mutating func update(
    _ reference: Reference, secret: borrowing Secret, at now: Timestamp, _ change: (inout Item) throws -> Void = { _ in }
  ) throws -> Reference {
    try transaction { try $0.update(reference, secret: secret, at: now, change) }
  }

  /// Removes an item in a commit of its own, as `Transaction.remove` does.
  /// - Throws: The errors of `Transaction.remove`; the errors of the store.
  @discardableResult
  public mutating func remove(_ reference: Reference, at now: Timestamp? = nil) throws -> Bool {
    try transaction { try $0.remove(reference, at: now) }
  }

  /// Removes an item in a commit of its own, as `Transaction.remove` does.
  /// - Throws: The errors of `Transaction.remove`; the errors of the store.
  @discardableResult
  public mutating func remove(_ item: Item, in group: AccessGroup = .standard, at now: Timestamp? = nil) throws -> Bool {
    try transaction { try $0.remove(item, in: group, at: now) }
  }

  /// Removes an item in a commit of its own, as `Transaction.remove` does.
  /// - Throws: The errors of `Transaction.remove`; the errors of the store.
  public mutating func remove(_ id: Identifier) throws { try transaction { try $0.remove(id) } }

  /// Moves an item in a commit of its own, as `Transaction.move` does.
  /// - Throws: The errors of `Transaction.move`; the errors of the store.
  @discardableResult
  public mutating func move(_ reference: Reference, to group: AccessGroup, at now: Timestamp) throws -> Reference {
    try transaction { try $0.move(reference, to: group, at: now) }
  }

  /// Makes a group in a commit of its own, as `Transaction.createGroup` does.
  /// - Throws: The errors of `Transaction.createGroup`; the errors of the store.
  public mutating func createGroup(_ group: AccessGroup, at now: Timestamp) throws {
    try transaction { try $0.createGroup(group, at: now) }
  }

  /// By the item's primary attributes: one proven look-up, at any size of the vault. Nil is a proven absence.
  /// - Throws: `groupNotFound`; `deviceKeyMissing`, `wrongDeviceKey`; integrity errors.
  public borrowing func entry(_ item: Item, in group: AccessGroup = .standard) throws -> Entry? {
    try reading { state, keyring in
      let group = try keyring.existing(group, in: state)
      return try Self.find(group.itemID(item), group, state).map { try state.openItem($0.record, meta: $0.meta, group: group) }
    }
  }

  /// - Throws: `notFound`, `groupNotFound`; `deviceKeyMissing`, `wrongDeviceKey`; integrity errors.
  public borrowing func entry(_ reference: Reference) throws -> Entry {
    try reading { state, keyring in
      let group = try keyring.existing(reference.group, in: state)
      guard let found = try Self.find(reference.id, group, state) else { throw VaultError(.notFound) }
      return try state.openItem(found.record, meta: found.meta, group: group)
    }
  }

  /// - Throws: as `entry`.
  public borrowing func secret(of reference: Reference) throws -> Secret {
    try reading { state, keyring in
      let group = try keyring.existing(reference.group, in: state)
      guard let found = try Self.find(reference.id, group, state) else { throw VaultError(.notFound) }
      return try state.openSecret(found.record, meta: found.meta, group: group)
    }
  }

  /// An item with its secret, by the item's primary attributes: one transaction, so that the way to it is proven once. Nil is a
  /// proven absence.
  /// - Throws: as `entry`.
  public borrowing func entryWithSecret(_ item: Item, in group: AccessGroup = .standard) throws -> EntryWithSecret? {
    try reading { state, keyring in
      let group = try keyring.existing(group, in: state)
      guard let found = try Self.find(group.itemID(item), group, state) else { return nil }
      return EntryWithSecret(
        entry: try state.openItem(found.record, meta: found.meta, group: group),
        secret: try state.openSecret(found.record, meta: found.meta, group: group))
    }
  }

  /// Whether the vault has the group: one proven look-up.
  /// - Throws: integrity errors.
  public borrowing func contains(_ group: AccessGroup) throws -> Bool {
    try reading { state, keyring in try keyring.group(group, in: state) != nil }
  }

  private static func find(
    _ id: Identifier, _ group: GroupKeys, _ state: ProvenState
  ) throws -> (record: RecordHead, meta: RecordMeta)? {
    try state.record(id).map { ($0, try state.itemMeta($0, in: group)) }
  }

  // MARK: Walks

  /// The groups, ordered by name: all, and proven to be all. Of a locked vault those that it still knows.
  /// - Throws: integrity errors.
  public borrowing func groups() throws -> [AccessGroup] {
    try reading { state, _ in try GroupDirectory(state).all.map(\.group) }
  }

  /// The items that satisfy `isIncluded`, of one group or of all. The tree proves that the list is complete, by a walk over
  /// every item of the vault, about 9 us for each. No secret is read, so a damaged one is not noticed. Items that a locked vault
  /// cannot open are left out; the list names their groups.
  /// - Throws: `groupNotFound`; integrity errors.
  public borrowing func entries(
    in group: AccessGroup? = nil, where isIncluded: (Entry) -> Bool = { _ in true }
  ) throws -> EntryList {
    try walk(group, isIncluded) { throw $0 }
  }

  /// The same for a vault with damaged records: `damaged` is called for each, and the walk continues. Each entry of the list is
  /// then proven, but not that the list is complete: neither the kind nor the group of a damaged record is known.
  /// - Throws: `groupNotFound`; faults of the header and of the tree.
  public borrowing func entries(
    in group: AccessGroup? = nil, where isIncluded: (Entry) -> Bool = { _ in true }, damaged: (VaultError) -> Void
  ) throws -> EntryList {
    try walk(group, isIncluded) { damaged($0) }
  }

  private borrowing func walk(
    _ group: AccessGroup?, _ isIncluded: (Entry) -> Bool, damaged: (VaultError) throws -> Void
  ) throws -> EntryList {
    try reading { state, keyring in
      let wanted = try group.map { try keyring.existing($0, in: state) }
      let directory = try wanted == nil ? GroupDirectory(state, damaged: damaged) : nil
      // The walk is ascending, so each group's entries are in order.
      var entries: [AccessGroup: [Entry]] = [:]
      var (unavailableCount, byteCount) = (0, 0)
      var locked: Set<Identifier> = []
      try state.forEachRecord(.item, damaged: damaged) { record, meta in
        guard wanted.map({ $0.groupID == record.group }) ?? true else { return }
        byteCount += record.attributes.count + record.secretCount
        do {
          guard let itemGroup = try wanted ?? directory?.group(record.group) else { throw VaultError(.unknownGroup) }
          let entry = try state.openItem(record, meta: meta, group: itemGroup)
          if isIncluded(entry) { entries[itemGroup.group, default: []].append(entry) }
        } catch let error as VaultError where error.code == .deviceKeyMissing || error.code == .wrongDeviceKey {
          unavailableCount += 1
        } catch VaultError.Code.locked {
          locked.insert(record.group)
        }
      }
      let names = locked.map { state.keys.kept?.name(ofGroup: $0) }
      return EntryList(
        entries: entries.sorted { $0.key < $1.key }.flatMap(\.value), unavailableCount: unavailableCount, byteCount: byteCount,
        lockedGroups: Set(names.compactMap(\.self)), hasUnknownGroups: names.contains(nil))
    }
  }
}
