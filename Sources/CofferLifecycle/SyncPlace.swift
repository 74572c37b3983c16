package import VaultCore

/// The items in which a vault notes how far it is in the spaces of `coffer sync`. Section 10 of docs/sync-format.md.
package enum SyncPlace {
  /// The group of these items, and of the keys of the device. No device shares it.
  package static let group = AccessGroup(unchecked: "coffer.sync")
  package static let service = "place"
}

extension Transaction {
  /// An item that a repair has lost was not removed by a person: without a place the vault counts as restored, so it takes the item from
  /// the other devices, and they remove nothing. In the commit of the repair, because a process may be killed after it.
  /// - Throws: as `entry` and `remove`.
  mutating func removeSyncPlaces(among items: Set<Reference>) throws {
    for item in items where item.group == SyncPlace.group {
      if try entry(item).item["service"] == SyncPlace.service { _ = try remove(item) }
    }
  }
}
