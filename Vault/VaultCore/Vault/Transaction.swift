public import SecretMemory

/// Several changes that become one commit. Lives inside `Vault.transaction`; what it reads includes what it changed.
/// Section 10.2 of FORMAT.md.
public struct Transaction: ~Copyable {
  package let state: ProvenState
  let keyring: Keyring
  package var tree: TreeEditor
  private(set) var slotRows: SlotRows
  package var change = Change()
  /// The keys from this commit on, if it brings a new master key.
  package var renewedKeys: VaultKeys?
  /// Groups that this transaction made, gave a key or (nil) removed.
  private var editedGroups: [AccessGroup: GroupKeys?] = [:]
  /// The error of an incomplete edit. The transaction is then discarded as a whole, even if `body` catches the error.
  private var failure: (any Error)?

  /// The generation that this commit will be.
  public var generation: UInt64 { state.header.generation + 1 }
  package var keys: VaultKeys { state.keys }

  /// - Throws: `unknownReadOnlyFlag`, `vaultFull` (no generation is left), and what proving the state throws.
  package init(proving rows: any Rows, keyring: Keyring) throws {
    let state = try keyring.prove(rows)
    guard state.header.readOnlyFlags & ~Header.historyFlag == 0 else { throw VaultError(.unknownReadOnlyFlag) }
    guard state.header.generation < .max else { throw VaultError(.vaultFull, "no generation is left") }
    let slotRows = try state.slotRows()
    (self.state, self.keyring, self.slotRows) = (state, keyring, slotRows)
    tree = TreeEditor(state.tree, recordCount: state.header.recordCount)
  }

  // MARK: Items

  /// - Throws: `duplicate`, `groupNotFound`, `secretTooLarge`, `attributeNotAllowed`, `nameNotAllowed`, `nameTooLong`,
  ///   `deviceKeyMissing`, `passphraseSlotMissing`, `vaultFull`, `locked`; integrity errors.
  @discardableResult
  public mutating func add(
    _ item: Item, secret: borrowing Secret, to group: AccessGroup = .standard, accessible: Accessibility = .whenUnlocked,
    at now: Timestamp
  ) throws -> Reference {
    var item = try item.checked()
    if item.created == nil { item.created = now }
    item.modified = now
    return try insert(item, secret: secret, into: group, accessible: accessible, at: now)
  }

  /// By the item's primary attributes: one proven look-up. Nil is a proven absence.
  /// - Throws: `groupNotFound`; integrity errors.
  public mutating func entry(_ item: Item, in group: AccessGroup = .standard) throws -> Entry? {
    let group = try self.group(group)
    return try record(group.itemID(item), in: group).map { try state.openItem($0.record, meta: $0.meta, group: group) }
  }

  /// - Throws: `notFound`, `groupNotFound`; integrity errors.
  public mutating func entry(_ reference: Reference) throws -> Entry {
    let group = try self.group(reference.group)
    let found = try existing(reference, in: group)
    return try state.openItem(found.record, meta: found.meta, group: group)
  }

  /// - Throws: `notFound`, `groupNotFound`; integrity errors.
  public mutating func secret(of reference: Reference) throws -> Secret {
    let group = try self.group(reference.group)
    let found = try existing(reference, in: group)
    let secret = try change.records[reference.id].flatMap(\.self)?.secret ?? state.secret(of: found.record)
    return try state.openSecret(secret, of: found.record, meta: found.meta, group: group)
  }

  /// Changes the attributes and keeps the secret, and the protection class unless another one is given.
  /// - Returns: the reference afterwards: another one if a primary attribute changed.
  /// - Throws: `notFound`, `duplicate` where the new primary attributes are another item's, and as `add`.
  @discardableResult
  public mutating func update(
    _ reference: Reference, accessible: Accessibility? = nil, at now: Timestamp, _ change: (inout Item) throws -> Void
  ) throws -> Reference {
    try replace(reference, with: try secret(of: reference), accessible, at: now, change)
  }

  /// Changes the secret, and the attributes if wanted.
  /// - Throws: `notFound`, `duplicate`, `attributeNotAllowed`, `secretTooLarge`, `deviceKeyMissing`; the error of `change`.
  @discardableResult
  public mutating func update(
    _ reference: Reference, secret: borrowing Secret, accessible: Accessibility? = nil, at now: Timestamp,
    _ change: (inout Item) throws -> Void = { _ in }
  ) throws -> Reference {
    try replace(reference, with: secret, accessible, at: now, change)
  }

  private mutating func replace(
    _ reference: Reference, with secret: borrowing Secret, _ accessible: Accessibility?, at now: Timestamp,
    _ edit: (inout Item) throws -> Void
  ) throws -> Reference {
    let before = try entry(reference)
    let item = try Self.edited(before.item, at: now, edit)
    return try insert(
      item, secret: secret, into: reference.group, accessible: accessible ?? before.accessibility, replacing: before, at: now)
  }

  private static func edited(_ old: Item, at now: Timestamp, _ edit: (inout Item) throws -> Void) throws -> Item {
    var item = old
    try edit(&item)
    guard item.itemClass == old.itemClass else { throw VaultError(.attributeNotAllowed, "class") }
    item = try item.checked(keeping: old.attributes)
    item.modified = now
    return item
  }

  /// Removes an item.
  /// - Parameters:
  ///   - reference: The reference of the item.
  ///   - now: The item can be restored, if the policy of the vault keeps former versions. nil: nothing of it is kept.
  /// - Returns: Whether the item can be restored.
  /// - Throws: `notFound`, `groupNotFound`, `locked`; integrity errors.
  @discardableResult
  public mutating func remove(_ reference: Reference, at now: Timestamp? = nil) throws -> Bool {
    let found = try existing(reference, in: try group(reference.group))
    if keys.isLocked, !found.meta.accessibility.isKeptWhileLocked { throw VaultError(.locked) }
    return try remove(reference, keepingFrom: now)
  }

  /// By the item's primary attributes. It is enough that the item is proven to be there: its row may be damaged, or gone.
  /// While the vault is locked its row must say of which class it is.
  /// - Throws: `notFound`, `groupNotFound`, `locked`; faults of the header, of the tree and of the group.
  @discardableResult
  public mutating func remove(_ item: Item, in group: AccessGroup = .standard, at now: Timestamp? = nil) throws -> Bool {
    let reference = Reference(group: group, id: try self.group(group).itemID(item))
    if keys.isLocked { return try remove(reference, at: now) }
    guard try tree.leaf(reference.id) != nil else { throw VaultError(.notFound) }
    return try remove(reference, keepingFrom: now)
  }

  /// By its identifier, whatever its content is: its row may be damaged, sealed with another key, or gone.
  /// - Throws: `notFound`, also for what is no item; `locked`; faults of the header and of the tree.
  public mutating func remove(_ id: Identifier) throws {
    try keys.checkUnlocked()
    guard RecordKind.item.firstBytes.contains(id.byte(at: 0)), try tree.leaf(id) != nil else { throw VaultError(.notFound) }
    try edit(id, nil)
  }

  /// Puts an item, with its former versions, into another group or class: sealed anew under the key of that.
  /// - Throws: `notFound`, `groupNotFound`, `duplicate`; integrity errors; the error of `edit`.
  @discardableResult
  public mutating func move(
    _ reference: Reference, to group: AccessGroup, accessible: Accessibility? = nil, at now: Timestamp,
    _ edit: (inout Item) throws -> Void = { _ in }
  ) throws -> Reference {
    let old = try entry(reference)
    let item = try Self.edited(old.item, at: now, edit)
    let accessible = accessible ?? old.accessibility
    var unchanged = item
    unchanged.modified = old.item.modified
    guard reference.group != group || accessible != old.accessibility || unchanged != old.item else { return reference }
    return try insert(item, secret: try secret(of: reference), into: group, accessible: accessible, replacing: old, at: now)
  }

  /// Everything that can be refused is refused before the first edit: an item that cannot be put in its new place stays in the
  /// old.
  /// - Parameter old: The item as it is. It becomes a former version of the new one.
  package mutating func insert(
    _ item: Item, secret: borrowing Secret, into group: AccessGroup, accessible: Accessibility, replacing old: Entry? = nil,
    at now: Timestamp
  ) throws -> Reference {
    let group = try self.group(group, withKeyFor: accessible)
    let id = group.itemID(item)
    guard try id == old?.reference.id || tree.leaf(id) == nil else { throw VaultError(.duplicate) }
    let place = try place(accessible, in: group)
    guard item.encoded.count <= Padding.maximumCount else { throw VaultError(.attributeNotAllowed, "more than 1 MiB in all") }
    let past = try past(of: item, secret, id, place, replacing: old, at: now)
    let record = try place.seal(id, .item, item.encoded(past.marks), secret, generation, keys)
    if let old, old.reference.id != id { try edit(old.reference.id, nil) }
    try write(past)
    try edit(id, record)
    return Reference(group: group.group, id: id)
  }

  /// Writes or (nil) removes a row, and its leaf.
  package mutating func edit(_ id: Identifier, _ record: SealedRecord?) throws {
    do {
      try tree.set(id, to: record.map { keys.integrity.leaf($0.head) })
    } catch {
      failure = error
      throw error
    }
    change.records[id] = .some(record)
  }

  mutating func existing(_ reference: Reference, in group: GroupKeys) throws -> (record: RecordHead, meta: RecordMeta) {
    guard let found = try record(reference.id, in: group) else { throw VaultError(.notFound) }
    return found
  }

  private mutating func record(
    _ id: Identifier, in group: GroupKeys
  ) throws -> (record: RecordHead, meta: RecordMeta)? {
    guard let leaf = try tree.leaf(id) else { return nil }
    let record = try change.records[id].flatMap(\.self)?.head ?? state.record(id, expecting: leaf)
    return (record, try state.itemMeta(record, in: group, upTo: generation))
  }

  // MARK: Groups

  /// - Throws: `groupExists`, `locked`; integrity errors.
  public mutating func createGroup(_ group: AccessGroup, at now: Timestamp) throws {
    guard try tree.leaf(keys.groupRecordID(group)) == nil else { throw VaultError(.groupExists, group.name) }
    try put(try .make(group, at: now, version: generation))
  }

  package mutating func put(_ group: GroupKeys) throws {
    try edit(keys.groupRecordID(group.group), try keys.seal(group, masterEpoch: state.header.masterEpoch))
    editedGroups[group.group] = group
  }

  /// Removes the record of a group. Its items are the caller's part: without the record they are damage.
  package mutating func remove(_ group: GroupKeys) throws {
    try edit(keys.groupRecordID(group.group), nil)
    editedGroups[group.group] = .some(nil)
  }

  /// - Throws: `groupNotFound`, `locked`; integrity errors.
  package func group(_ group: AccessGroup) throws -> GroupKeys {
    guard let edited = editedGroups[group] else { return try keyring.existing(group, in: state) }
    guard let edited else { throw VaultError(.groupNotFound, group.name) }
    return edited
  }

  private mutating func group(_ name: AccessGroup, withKeyFor accessible: Accessibility) throws -> GroupKeys {
    let group = try group(name)
    guard try group.currentEpoch(accessible, keys: keys) == nil else { return group }
    if accessible == .whenPasscodeSetThisDevice {
      guard try slots().contains(where: \.type.hasPassphrase) else { throw VaultError(.passphraseSlotMissing) }
    }
    let extended = try group.adding(accessible, keys: keys, version: generation)
    try put(extended)
    return extended
  }

  /// - Throws: `locked` for a group that a locked vault does not know; integrity errors.
  public mutating func contains(_ group: AccessGroup) throws -> Bool {
    if keys.isLocked { return try keyring.group(group, in: state) != nil }
    return try tree.leaf(keys.groupRecordID(group)) != nil
  }

  // MARK: Slots

  package func slots() throws -> [KeySlot] {
    try slotRows.parsed()
  }

  /// - Throws: `locked`: ways in are the owner's affair.
  package mutating func setSlot(_ index: Int, _ slot: KeySlot?) throws {
    try keys.checkUnlocked()
    slotRows.setSlot(index, slot?.bytes)
    change.header[index] = .some(slot?.bytes)
  }

  /// Whether any group has a key that must not outlive the last passphrase slot.
  func hasPasscodeKeys() throws -> Bool {
    try GroupDirectory(state).all.contains(where: \.hasPasscodeKey)
  }

  // MARK: The end

  /// Puts the change together: nodes, slots, history, header.
  /// - Returns: an empty change, and nil, where nothing was edited.
  /// - Throws: what an edit failed with half-way, whether or not `body` caught it.
  package mutating func finish() throws -> (change: Change, header: SealedHeader?) {
    if let failure { throw failure }
    return change.isEmpty ? (change, nil) : try seal()
  }

  /// The next generation.
  package mutating func seal() throws -> (change: Change, header: SealedHeader?) {
    slotRows.append(state.mac)
    change.header[Header.historyKey] = slotRows.historyBytes
    var header = state.header
    header.generation = generation
    if renewedKeys != nil { header.masterEpoch += 1 }
    let integrity = (renewedKeys ?? keys).integrity
    header.root = try tree.finish(into: &change)
    header.depth = tree.depth
    header.recordCount = tree.recordCount
    if change.records.contains(where: { $0.key.byte(at: 0) >= 0x80 && $0.value != nil }) {
      header.readOnlyFlags |= Header.historyFlag
    }
    header.slotCount = UInt32(slotRows.slots.count)
    header.slotsDigest = integrity.slotsDigest(slotRows)
    header.previousMAC = state.mac
    let sealed = header.sealed(with: integrity)
    change.header[0] = sealed.bytes
    return (change, sealed)
  }
}
