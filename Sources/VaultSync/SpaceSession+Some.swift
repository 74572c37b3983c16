import Coffer
import CofferSync
import VaultCore

/// A pass that looks at some items alone: those of which the agent has told, and those whose writes in the space have changed.
extension SpaceSession {
  /// Takes the changes of these items.
  /// - Returns: nil if all items have to be listed: it is the first pass, or one of them has gone or is damaged.
  func collect(_ changes: VaultChanges, _ objects: ObjectSource) throws -> Collected? {
    guard case .items(let references) = changes, var known = seen, try !files.hasPlan() else { return nil }
    var found = Collected(items: SharedItems())
    for reference in references where state.groups.contains(reference.group) {
      do {
        let entry = try keychain.entry(reference)
        guard let tag = SharedItems.tag(of: entry) else {
          if known.values.contains(reference) { return nil }
          continue
        }
        known[tag] = reference
        found.items.add(entry, tag)
        try collect(entry, tag, after: nil, &found, objects)
      } catch let error as KeychainError where error.code.isOfOneItem {
        return nil
      }
    }
    seen = known
    return found
  }

  /// The items that the vault may have in another state than the space.
  func keysToApply(isComplete: Bool) -> Set<EntityKey> {
    let pending = state.replica.pending.map(\.operation.key)
    guard !isComplete, let touched = state.replica.touched else {
      // Also those that the space has forgotten, because they were deleted before the last checkpoints.
      return Set(state.replica.state.entities.keys).union(pending).union(state.rows.keys.map { EntityKey(.item, $0) })
    }
    return touched.union(pending)
  }

  /// Adds the items of the vault that the space has in another state. One that was changed there meanwhile stays as it is: the agent
  /// tells of it, and the next pass takes the change.
  /// - Parameters:
  ///   - keys: The items.
  ///   - known: Where they are.
  ///   - found: Gets them.
  func look(for keys: Set<EntityKey>, _ known: [Identifier: Reference], _ found: inout Collected) throws {
    for key in keys where key.kind == .item && found.items.entries[key.tag] == nil {
      let row = state.rows[key.tag]
      guard row != nil || known[key.tag] != nil else { continue }
      do {
        if let reference = known[key.tag] {
          let entry = try keychain.entry(reference)
          if entry.version == row?.version {
            found.items.add(entry, key.tag)
            continue
          }
        }
        found.unread[key.tag] = KeychainError(.conflict)
      } catch let error as KeychainError where error.code.isOfOneItem {
        found.unread[key.tag] = error
      }
      found.open = .all
    }
  }
}

/// The part of a replica that a pass may have changed.
struct ReplicaMark: Equatable {
  let count: UInt64
  let halt: Halt?
  let pending: Int
  let drafts: Int
  let wantsPresence: Bool
}

extension Replica {
  var mark: ReplicaMark {
    ReplicaMark(count: count, halt: halt, pending: pending.count, drafts: drafts.count, wantsPresence: wantsPresence)
  }
}
