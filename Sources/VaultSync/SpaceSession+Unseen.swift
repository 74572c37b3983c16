import CofferSync
import VaultCore

extension SpaceSession {
  /// The items of shared groups that were written or removed since the last pass, which no operation has. It goes by the versions of the
  /// items and reads no secret, so that no rule asks the person: an item that has its former value again counts as well. Those that a
  /// pass is writing now, or was writing when it was interrupted, have values of others.
  /// - Throws: as `Keychain.items`.
  package func unseenCount() throws -> Int {
    let items = try SharedItems(of: state.groups, in: keychain)
    let planned = Set((try? files.plan())?.steps.map(\.tag) ?? [])
    let written = items.entries.count { tag, entry in
      guard !planned.contains(tag) else { return false }
      guard let row = state.rows[tag] else { return true }
      // The last pass has written it, and could not read which version it got.
      guard let version = row.version else { return false }
      return version != entry.version
    }
    // One that is not listed may be the damaged one, and a group that is missing may have another name by now.
    guard items.damage == nil else { return written }
    let removed = state.rows.keys.count { tag in
      guard items.entries[tag] == nil, !planned.contains(tag), shown(EntityKey(.item, tag))?.exists == true else { return false }
      return content(of: tag).map { state.groups.contains($0.group) && !items.missingGroups.contains($0.group) } ?? false
    }
    return written + removed
  }
}
