import Coffer
import CofferRequests
import CofferSync
import SecretMemory
import VaultCore

/// The writes of a pass into the vault.
extension SpaceSession {
  /// This program adds so many one by one: the agent tells of each, and of a commit of several only that something has changed.
  private static let fewItems = 8

  func write(_ differences: [Difference], _ found: Collected, _ applied: inout Applied) throws {
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
      // If another process has changed it since, the next look at the vault compares the value.
      state.rows[difference.tag]?.version = nil
      applied.written += 1
      let version = try version(of: reference, as: difference.value)
      state.rows[difference.tag]?.version = version
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
      content.item, secret: opened(first).secret.secret, group: content.group, accessible: content.accessibility)
    if difference.stages.count > 1 {
      try write(difference.stages.dropFirst(), in: entry(reference, with: first))
    }
    return reference
  }

  private func write(_ stages: ArraySlice<PlannedValue>, in entry: Entry) throws {
    var entry = entry
    for (index, stage) in zip(stages.indices, stages) {
      if index > stages.startIndex { entry = try self.entry(entry.reference, with: stages[index - 1]) }
      guard stage.content.accessibility == entry.accessibility else {
        try keychain.update(entry.reference, accessible: stage.content.accessibility) { _ in }
        continue
      }
      // The attributes that this vault keeps for itself stay.
      var item = stage.content.item
      for name in ["created", "modified"] { item.attributes[name] = entry.item.attributes[name] }
      let new = Entry(
        reference: entry.reference, item: item, accessibility: entry.accessibility, generation: entry.generation)
      try keychain.update(new, secret: opened(stage).secret.secret)
    }
  }

  /// The item, if no other process has changed it since this one has written the secret.
  /// - Throws: `conflict`.
  private func entry(_ reference: Reference, with value: PlannedValue) throws -> Entry {
    let entry = try keychain.entry(reference)
    let secret = try keychain.secret(of: reference, purpose: "to share it")
    guard try secret.isEqual(to: opened(value).secret.secret) else { throw KeychainError(.conflict) }
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
      secrets.write(try opened(difference.value).secret.secret, at: offset)
      offset += difference.value.secret.count
    }
    let items = batch.map(\.value.content.item)
    guard let group = batch.first?.value.content.group,
      let new = NewItems(items, batch.map(\.value.secret.count), secrets: secrets)
    else { return }
    let last: Reference
    do {
      last = try keychain.addAll(new, group: group)
    } catch let error as KeychainError where error.code != .full && batch.count > 1 {
      for difference in batch { try carryOut(difference, &applied) { try add(difference) } }
      return
    } catch let error as KeychainError where batch.count == 1 {
      return try carryOut(batch[0], &applied) { throw error }
    }
    applied.written += batch.count
    // The last one tells the version of all, if it still has its value: another process may have changed it since, and only it. Of those
    // that have another version by now the next look compares the value.
    let version = try version(of: last, as: batch[batch.count - 1].value)
    for difference in batch {
      state.rows[difference.tag] = difference.row
      state.rows[difference.tag]?.version = version
    }
  }

  /// - Returns: nil if the item has another value.
  private func version(of reference: Reference, as value: PlannedValue) throws -> UInt64? {
    do {
      let entry = try keychain.entry(reference)
      return try hasValue(value, entry) ? entry.version : nil
    } catch let error as KeychainError where error.code.isOfOneItem {
      return nil
    }
  }

  // MARK: Removing

  func remove(_ tag: Identifier, _ found: Collected, _ applied: inout Applied) throws {
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
