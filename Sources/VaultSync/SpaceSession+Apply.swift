import Coffer
import CofferRequests
import CofferSync
import SecretMemory
import VaultCore

/// The fold becomes items of the vault. A value that goes is kept there as a former version. Section 5.3 of docs/sync-format.md.
extension SpaceSession {
  /// The writes into the vault.
  struct Applied {
    var written = 0
    var removed = 0
    /// Items that the vault does not take, with the reason.
    var refused: [(name: String, error: any Error)] = []
    /// Items that are as they were.
    var open: Set<Identifier> = []
  }

  /// An item that the vault has in another state than the space.
  private struct Difference {
    let tag: Identifier
    let row: KnownRow
    /// The values that are written one after the other: secrets of others that lost, and that this vault has never had, before the
    /// one that is shown. The protection class changes last, in a write of its own.
    let stages: [ItemValue]

    var value: ItemValue { stages[stages.count - 1] }
  }

  /// - Parameters:
  ///   - objects: The large values of the engine.
  ///   - entities: The items that may be in another state.
  func apply(_ found: Collected, _ entities: Set<EntityKey>, _ objects: ObjectSource) throws -> Applied {
    var applied = Applied()
    var (differences, removed): ([Difference], [Identifier]) = ([], [])
    for key in entities.sorted()
    where key.kind == .item && found.unread[key.tag] == nil {
      let row = state.rows[key.tag]
      guard let entity = shown(key) else {
        if row != nil { removed.append(key.tag) }
        continue
      }
      guard entity.exists else {
        if row != nil || found.outdated.contains(key.tag) { removed.append(key.tag) }
        continue
      }
      guard let new = KnownRow(entity, version: row?.version), new != row else { continue }
      do {
        guard let difference = try difference(key.tag, entity, new, found.items.entries[key.tag], objects) else { continue }
        // The value is there, and another device has written it too, or has seen it.
        if let row, row.content == new.content, row.secret == new.secret, difference.stages.count == 1 {
          state.rows[key.tag] = new
        } else if let entry = found.items.entries[key.tag], difference.stages.count == 1, try hasValue(difference.value, entry) {
          state.rows[key.tag] = new
          state.rows[key.tag]?.version = entry.version
        } else {
          differences.append(difference)
        }
      } catch let error as VaultError {
        throw error
      } catch let error as KeychainError {
        throw error
      } catch {
        // A large value that the engine does not have now must not hold up the others.
        applied.refused.append((try content(of: key.tag)?.item.shownName ?? key.tag.description, error))
        applied.open.insert(key.tag)
      }
    }
    // Items of outdated vaults that no device has any more.
    removed += found.outdated.filter { shown(EntityKey(.item, $0)) == nil }
    defer {
      let isOpen = differences.filter { !(state.rows[$0.tag]?.hasValues(of: $0.row) ?? false) }.map(\.tag)
      applied.open.formUnion(isOpen + removed.filter { state.rows[$0] != nil })
    }
    guard !differences.isEmpty || !removed.isEmpty else { return applied }
    var plan = Plan()
    plan.steps =
      try removed.map { Plan.Step(tag: $0, row: nil, digests: []) }
      + differences.map { Plan.Step(tag: $0.tag, row: $0.row, digests: try $0.stages.map { try $0.digest(keys.state) }) }
    try files.save(plan)
    for tag in removed { try remove(tag, found, &applied) }
    try write(differences, found, &applied)
    return applied
  }

  /// - Returns: nil for an item of a group that is not shared here.
  private func difference(
    _ tag: Identifier, _ entity: Entity, _ new: KnownRow, _ entry: Entry?, _ objects: ObjectSource
  ) throws -> Difference? {
    guard let content = entity.shown(.content), let secret = entity.shown(.secret) else { return nil }
    let bytes = try state.replica.content(of: content, objects).secret.copyIntoUnprotectedBytes()
    let item = try ItemContent(parsing: bytes)
    // The fold has not seen a content that lies in an object.
    guard item.tag == tag else { throw VoidCause.tag }
    guard state.groups.contains(item.group) else { return nil }
    let known = state.rows[tag]?.seen[.secret] ?? []
    let lost = try entity[.secret].dropFirst().filter { !known.contains($0.dot) && $0.value != secret }
      .compactMap { try available($0.value, objects) }
    let present = try ItemContent(item.item, in: item.group, accessibility: entry?.accessibility ?? item.accessibility)
    let shown = try state.replica.content(of: secret, objects)
    var stages = (lost + [shown]).map { ItemValue(present, $0) }
    if present != item { stages.append(ItemValue(item, shown)) }
    guard stages.allSatisfy({ $0.byteCount <= ItemValue.maximumByteCount }) else { throw VoidCause.form }
    return Difference(tag: tag, row: new, stages: stages)
  }

  /// A value that is not shown. If no device has it, the shown one is written without it.
  private func available(_ value: Value, _ objects: ObjectSource) throws -> LockedBytes? {
    do {
      return try state.replica.content(of: value, objects)
    } catch Halt.objectMissing, VoidCause.tag {
      return nil
    }
  }

  private func hasValue(_ value: ItemValue, _ entry: Entry) throws -> Bool {
    guard (try? ItemContent(entry)) == value.content else { return false }
    do {
      return try keychain.secret(of: entry.reference, purpose: "to share it").isEqual(to: value.secret.secret)
    } catch let error as KeychainError where error.code.isOfOneItem {
      return false
    }
  }

  // MARK: Writing

  /// This program adds so many one by one: the agent tells of each, and of a commit of several only that something has changed.
  private static let fewItems = 8

  private func write(_ differences: [Difference], _ found: Collected, _ applied: inout Applied) throws {
    var batches: [AccessGroup: [Difference]] = [:]
    for difference in differences {
      if let entry = found.items.entries[difference.tag] {
        try carryOut(difference, &applied) { try update(entry, difference) }
      } else if difference.value.content.accessibility == .whenUnlocked, difference.stages.count == 1, !difference.value.isLarge {
        batches[difference.value.content.group, default: []].append(difference)
      } else {
        try carryOut(difference, &applied) { try add(difference) }
      }
    }
    for (_, all) in batches.sorted(by: { $0.key < $1.key }) {
      var rest = all[...]
      while !rest.isEmpty {
        var (count, byteCount) = (0, 0)
        for difference in rest.prefix(NewItems.maximumCount) {
          byteCount += difference.value.byteCount
          guard count == 0 || byteCount <= NewItems.aimByteCount else { break }
          count += 1
        }
        try add(Array(rest.prefix(count)), &applied)
        rest = rest.dropFirst(count)
      }
    }
  }

  /// The item stays as it is if a person has changed it meanwhile: the next look at the vault finds that.
  private func carryOut(_ difference: Difference, _ applied: inout Applied, _ body: () throws -> Reference) throws {
    do {
      let reference = try body()
      state.rows[difference.tag] = difference.row
      // Another process may have changed it since; the next look at the vault compares the value.
      state.rows[difference.tag]?.version = nil
      applied.written += 1
      guard difference.value.isLarge else { return }
      // For that it would need the engine, which may be away then.
      let entry = try keychain.entry(reference)
      if try hasValue(difference.value, entry) { state.rows[difference.tag]?.version = entry.version }
    } catch let error as KeychainError {
      switch error.code {
      case .conflict, .notFound: return
      case .duplicate, .quotaExceeded: applied.refused.append((difference.value.content.item.shownName, error))
      case let code where code.isOfOneItem:
        applied.refused.append((difference.value.content.item.shownName, error))
      default: throw error
      }
    }
  }

  private func update(_ entry: Entry, _ difference: Difference) throws -> Reference {
    try write(difference.stages[...], in: entry)
    return entry.reference
  }

  private func add(_ difference: Difference) throws -> Reference {
    let first = difference.stages[0]
    let content = first.content
    let reference = try keychain.add(
      content.item, secret: first.secret.secret, group: content.group, accessible: content.accessibility)
    if difference.stages.count > 1 {
      try write(difference.stages.dropFirst(), in: entry(reference, with: first.secret))
    }
    return reference
  }

  private func write(_ stages: ArraySlice<ItemValue>, in entry: Entry) throws {
    var entry = entry
    for (index, stage) in zip(stages.indices, stages) {
      if index > stages.startIndex { entry = try self.entry(entry.reference, with: stages[index - 1].secret) }
      guard stage.content.accessibility == entry.accessibility else {
        try keychain.update(entry.reference, accessible: stage.content.accessibility) { _ in }
        continue
      }
      // The attributes that this vault keeps for itself stay.
      var item = stage.content.item
      for name in ["created", "modified"] { item.attributes[name] = entry.item.attributes[name] }
      let new = Entry(
        reference: entry.reference, item: item, accessibility: entry.accessibility, generation: entry.generation)
      try keychain.update(new, secret: stage.secret.secret)
    }
  }

  /// The item, if no other process has changed it since this one has written the secret.
  /// - Throws: `conflict`.
  private func entry(_ reference: Reference, with secret: LockedBytes) throws -> Entry {
    let entry = try keychain.entry(reference)
    guard try keychain.secret(of: reference, purpose: "to share it").isEqual(to: secret.secret) else {
      throw KeychainError(.conflict)
    }
    return entry
  }

  /// One commit, so that their versions are one and tell whether another process has changed one of them since.
  private func add(_ batch: [Difference], _ applied: inout Applied) throws {
    guard batch.count > Self.fewItems else {
      for difference in batch { try carryOut(difference, &applied) { try add(difference) } }
      return
    }
    var secrets = try Secret(count: batch.reduce(0) { $0 + $1.value.secret.count })
    var offset = 0
    for difference in batch {
      secrets.write(difference.value.secret.secret, at: offset)
      offset += difference.value.secret.count
    }
    let items = batch.map(\.value.content.item)
    guard let group = batch.first?.value.content.group,
      let new = NewItems(items, batch.map(\.value.secret.count), secrets: secrets)
    else { return }
    do {
      try keychain.addAll(new, group: group)
    } catch let error as KeychainError where error.code != .full && batch.count > 1 {
      for difference in batch { try carryOut(difference, &applied) { try add(difference) } }
      return
    } catch let error as KeychainError where batch.count == 1 {
      return try carryOut(batch[0], &applied) { throw error }
    }
    for difference in batch { state.rows[difference.tag] = difference.row }
    for difference in batch { state.rows[difference.tag]?.version = nil }
    applied.written += batch.count
  }

  /// Several items that have one version were written by one commit. Changes of a person are commits of one item each.
  func noteVersions(of tags: [Identifier]) throws {
    guard tags.count > 1 else { return }
    let items = try SharedItems(of: state.groups, in: keychain)
    let versions = Dictionary(grouping: tags) { items.entries[$0]?.version }
    for case (let version?, let tags) in versions where tags.count > 1 {
      for tag in tags where state.rows[tag]?.version == nil { state.rows[tag]?.version = version }
    }
  }

  // MARK: Removing

  private func remove(_ tag: Identifier, _ found: Collected, _ applied: inout Applied) throws {
    guard let entry = found.items.entries[tag] else {
      state.rows[tag] = nil
      return
    }
    do {
      try keychain.remove(entry)
      state.rows[tag] = nil
      applied.removed += 1
    } catch let error as KeychainError {
      switch error.code {
      case .notFound: state.rows[tag] = nil
      // A person has changed it a moment ago.
      case .conflict: return
      case let code where code.isOfOneItem:
        applied.refused.append((entry.item.shownName, error))
      default: throw error
      }
    }
  }
}

extension Item {
  /// For people.
  var shownName: String {
    let names = itemClass.primaryAttributes.compactMap { name, _ -> String? in
      if case .text(let text)? = attributes[name] { text } else { nil }
    }
    return names.isEmpty ? label ?? "" : names.reversed().joined(separator: "/")
  }
}
