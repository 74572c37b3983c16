import Coffer
import CofferSync
import SecretMemory
import VaultCore

/// Changes of a person become operations, before anything is folded. Section 6 of docs/sync-format.md.
extension SpaceSession {
  /// The result of a look at the vault.
  struct Collected {
    var items: SharedItems
    var changed = 0
    var deleted = 0
    /// Deletions that wait for a person.
    var held = 0
    /// The vault is older than the files: it was restored from a backup.
    var isPutBack = false
    /// The note of what this device was about to write before a crash is damaged: as after a restore it is not known which changes are
    /// those of a person.
    var isPlanLost = false
    /// Items of such a vault that the space knows in another state.
    var outdated: Set<Identifier> = []
    /// Items that the vault does not give to this program now, or that have to be compared with a value that the engine does not give
    /// now. They may hold a change, and stay as they are.
    var unread: [Identifier: any Error] = [:]
    /// Items, also removed ones, that the next pass has to look at, although no notice names them.
    var open = VaultChanges.none
  }

  /// The engine does not give a large value now.
  private struct NotCompared: Error {
    let cause: any Error
  }

  /// - Parameter objects: Large values of the engine, to compare them. One that the engine has lost counts as another value.
  func collect(_ objects: ObjectSource) throws -> Collected {
    let isPlanLost = try !finishPlan()
    let place = try PlaceItem(of: keys.space, in: keychain)
    var found = Collected(items: try SharedItems(of: state.groups, in: keychain))
    found.isPlanLost = isPlanLost
    found.isPutBack = isPlanLost || state.stamp.count > 0 && (place?.stamp.isBefore(state.stamp) ?? true)
    for (tag, entry) in found.items.entries {
      do {
        try collect(entry, tag, after: place, &found, objects)
      } catch let error as KeychainError where error.code.isOfOneItem {
        found.unread[tag] = error
      }
    }
    seen = found.items.entries.mapValues(\.reference)
    let missing = state.rows.keys.filter { found.items.entries[$0] == nil }
    if found.isPutBack {
      for tag in missing { state.rows[tag] = nil }
    } else {
      try collectDeletions(missing, &found, objects)
    }
    return found
  }

  func collect(
    _ entry: Entry, _ tag: Identifier, after place: PlaceItem?, _ found: inout Collected, _ objects: ObjectSource
  ) throws {
    do {
      if try isChanged(entry, tag, after: place, &found, objects) { found.changed += 1 }
    } catch let error as NotCompared {
      found.unread[tag] = error.cause
      found.open.add(entry.reference)
    }
  }

  private func isChanged(
    _ entry: Entry, _ tag: Identifier, after place: PlaceItem?, _ found: inout Collected, _ objects: ObjectSource
  ) throws -> Bool {
    guard found.isPutBack else {
      let row = state.rows[tag]
      guard row?.version != entry.version else { return false }
      return try collect(entry, tag, seen: row?.seen ?? seenBeforeDeletion(tag), objects)
    }
    // Its version may be that of another value, if this one cannot be read now.
    state.rows[tag] = nil
    // An older value is none of a person, and one that is newer was written without a look at those of the others.
    guard entry.version <= place?.version ?? 0, shown(EntityKey(.item, tag)) != nil else {
      return try collect(entry, tag, seen: SeenWrites(), objects)
    }
    found.outdated.insert(tag)
    return false
  }

  /// An item that this vault has again after it was deleted here, or by another device: its author saw the values that it had. If the
  /// deletion waits for a person, it is none any more.
  private func seenBeforeDeletion(_ tag: Identifier) -> SeenWrites {
    let key = EntityKey(.item, tag)
    guard let deleted = shown(key), !deleted.exists else { return SeenWrites() }
    state.replica.discardDeletions { $0 == key }
    let present = shown(key)
    var seen = SeenWrites(present)
    // Also a deletion that is on its way.
    seen[.life] += deleted[.life].map(\.dot)
    // If the value cannot be read now, the next look at it finds no deletion.
    state.rows[tag] = present.flatMap { KnownRow($0, version: nil) }
    state.rows[tag]?.seen = seen
    return seen
  }

  /// - Returns: Whether the item has another value than the space.
  private func collect(_ entry: Entry, _ tag: Identifier, seen: SeenWrites, _ objects: ObjectSource) throws -> Bool {
    let key = EntityKey(.item, tag)
    let value = try ItemValue(entry, secret: keychain.secret(of: entry.reference, purpose: "to share it"))
    let shown = shown(key)
    let exists = shown?.exists ?? false
    let hasContent = try exists && isShown(LockedBytes(Secret(copying: value.content.bytes)), shown?.shown(.content), objects)
    let hasSecret = try exists && isShown(value.secret, shown?.shown(.secret), objects)
    if !hasContent || !hasSecret {
      try state.replica.write(
        tag, content: hasContent ? nil : value.content, secret: hasSecret ? nil : value.secret, at: entry.milliseconds,
        seen: seen)
    }
    guard let after = self.shown(key), var row = KnownRow(after, version: entry.version) else { return false }
    if !hasContent || !hasSecret, let own = state.replica.pending.last?.operation.dot {
      // The row has the value of this change, which others may precede.
      if !hasContent { row.content = own }
      if !hasSecret { row.secret = own }
      row.seen = seen
      row.seen[.life] = [own]
      if !hasContent { row.seen[.content] = [own] }
      if !hasSecret { row.seen[.secret] = [own] }
    }
    state.rows[tag] = row
    return !hasContent || !hasSecret
  }

  private func isShown(_ bytes: LockedBytes, _ value: Value?, _ objects: ObjectSource) throws -> Bool {
    guard let value, value.count == bytes.count else { return false }
    do {
      return try state.replica.content(of: value, objects).secret.isEqual(to: bytes.secret)
    } catch let error as VaultError {
      throw error
    } catch Halt.objectMissing, VoidCause.tag {
      return false
    } catch {
      throw NotCompared(cause: error)
    }
  }

  /// A missing item was deleted, unless it could not be read. Each is looked up once more: a list leaves out damaged items, and those of a
  /// vault that was locked at that moment.
  private func collectDeletions(_ missing: [Identifier], _ found: inout Collected, _ objects: ObjectSource) throws {
    var byGroup: [AccessGroup: [EntityKey]] = [:]
    for tag in missing {
      let key = EntityKey(.item, tag)
      guard shown(key)?.exists == true else {
        state.rows[tag] = nil
        continue
      }
      guard let content = try readableContent(of: tag, &found, objects), state.groups.contains(content.group), try isGone(content)
      else {
        continue
      }
      byGroup[content.group, default: []].append(key)
    }
    let now = milliseconds()
    deletions.forget(before: now)
    for (group, keys) in byGroup.sorted(by: { $0.key < $1.key }) {
      let rows = state.rows
      let count = keys.count + (found.items.counts[group] ?? 0)
      let recent = deletions[group]
      let isHeld = found.items.missingGroups.contains(group) || DeletionGuard.holds(keys.count + recent, of: count + recent)
      let isSent = try state.replica.delete(
        keys.sorted(), ofGroupWith: count, at: now, isHeld: isHeld, seen: { rows[$0.tag]?.seen })
      if isSent { deletions.add(keys.count, of: group, at: now) }
      for key in keys { state.rows[key.tag] = nil }
      if isSent { found.deleted += keys.count } else { found.held += keys.count }
    }
  }

  /// The shown content of an item.
  /// - Returns: nil if it lies in an object that the engine does not give: the deletion waits for that.
  private func readableContent(of tag: Identifier, _ found: inout Collected, _ objects: ObjectSource) throws -> ItemContent? {
    guard let value = shown(EntityKey(.item, tag))?.shown(.content) else { return nil }
    do {
      return try ItemContent(parsing: state.replica.content(of: value, objects).secret.copyIntoUnprotectedBytes())
    } catch let error as VaultError {
      throw error
    } catch is Halt, is VoidCause {
      return nil
    } catch {
      found.open = .all
      return nil
    }
  }

  /// Whether the vault does not have the item, or as one of this device alone. A damaged one is there.
  /// - Throws: `locked`; as `Keychain.items`.
  private func isGone(_ content: ItemContent) throws -> Bool {
    let query = KeychainQuery(content.item.itemClass, group: content.group, attributes: content.item.primaryKey)
    do {
      return try !keychain.items(query).contains { (try? ItemContent($0))?.tag == content.tag }
    } catch let error as KeychainError where error.code == .integrity {
      return false
    }
  }

  /// After a crash: writes that were planned and made are those of this device, and not of a person.
  /// - Returns: False if the plan is damaged. It stays until the end of the pass.
  private func finishPlan() throws -> Bool {
    let plan: Plan
    do {
      guard let noted = try files.plan() else { return true }
      plan = noted
    } catch let error as SyncError where error.code == .stateMalformed {
      return false
    }
    let items = try SharedItems(of: state.groups, in: keychain)
    for step in plan.steps {
      guard let row = step.row else {
        if items.entries[step.tag] == nil { state.rows[step.tag] = nil }
        continue
      }
      guard let entry = items.entries[step.tag], entry.version != state.rows[step.tag]?.version else { continue }
      guard let value = try readable(entry), let stage = step.digests.firstIndex(of: try value.digest(keys.state)) else {
        continue
      }
      var next = row
      next.version = entry.version
      if stage + 1 < step.digests.count {
        // Another value was to follow, and will.
        (next.content, next.secret) = (.zero, .zero)
        next.seen = state.rows[step.tag]?.seen ?? SeenWrites()
      }
      state.rows[step.tag] = next
    }
    try save()
    try files.removePlan()
    return true
  }

  /// - Returns: nil for an item that the vault does not give now: the next look at it compares the value.
  private func readable(_ entry: Entry) throws -> ItemValue? {
    do {
      return try ItemValue(entry, secret: keychain.secret(of: entry.reference, purpose: "to share it"))
    } catch let error as KeychainError where error.code.isOfOneItem {
      return nil
    }
  }
}

extension KeychainError.Code {
  /// Whether it is about the item that was asked for: the others go on.
  var isOfOneItem: Bool {
    switch kind {
    case .notFound, .notAllowed, .missingEntitlement, .confirmationNeeded, .confirmationRefused, .otherDevice, .integrity: true
    default: false
    }
  }
}

extension Entry {
  /// When it was changed, by the clock of this machine: the vault keeps seconds.
  fileprivate var milliseconds: Int64 { (item.modified?.secondsSince1970 ?? 0) * 1000 }
}
