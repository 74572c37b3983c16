import AccessRights
import CofferStorage
import SecretMemory
import VaultCore
import VaultUpkeep

/// Versions of items.
extension ItemService {
  /// If the item's row cannot be kept, because it does not open or the disk is full, the item is removed all the same.
  /// - Returns: Whether the item can be restored.
  func remove(in vault: inout Vault, _ remove: (inout Vault, Timestamp?) throws -> Bool) throws -> Bool {
    let isKept: Bool
    do {
      isKept = try remove(&vault, now)
    } catch StorageError(.full) {
      return try remove(&vault, nil)
    }
    // The former versions of an item that did not open have no owner now. If this fails, the next purge finds them.
    if !isKept, !vault.isLocked, try vault.limits().value(.historyVersions) > 0 { _ = try? vault.purgeExpired(at: now) }
    return isKept
  }

  func removed(in group: AccessGroup?, of vault: borrowing Vault) throws -> [Attributes] {
    let groups = try caller.groups(for: [.list, .read], in: group)
    return try vault.removedItems().filter { item in
      let group = item.entry.reference.group
      return groups?.contains(group) ?? allows(group, [.list, .read])
    }.compactMap(\.removedRow)
  }

  /// - Returns: How many versions were removed; the present one counts, if the item goes with them.
  func purge(_ reference: Reference, _ scope: ItemRequest.PurgeScope, in vault: inout Vault) throws -> Int {
    try vault.transaction { transaction in
      switch scope {
      case .version(let number):
        let count = try transaction.purge(reference) { $0.number == number }
        guard count > 0 else { throw VaultError(.versionNotFound, "\(number)") }
        return count
      case .former: return try transaction.purge(reference) { _ in true }
      case .item:
        let count = try transaction.versionCount(of: reference)
        try transaction.remove(reference)
        return count
      }
    }
  }

  static func count(_ count: Int) -> Attributes {
    var row = Attributes()
    row["count"] = .integer(UInt64(count))
    return row
  }
}

extension ItemHistory {
  /// One row for each version, newest first: `version`, `state` (present, changed, removed), and `time`, at which the version was made or
  /// ceased to be the present one.
  var rows: [Attributes] {
    func row(_ version: UInt64, _ state: String, _ time: Timestamp?) -> Attributes {
      var row = Attributes()
      row["version"] = .integer(version)
      row["state"] = .text(state)
      row["time"] = time.map { .time($0) }
      return row
    }
    return [removed.map { row(entry.version, "removed", $0) } ?? row(entry.version, "present", entry.item.modified)]
      + former.map { row($0.number, "changed", $0.replaced) }
  }

  /// A removed item: its group, id and name.
  var removedRow: Attributes? {
    guard let removed else { return nil }
    var row = Attributes()
    row["group"] = .text(entry.reference.group.name)
    row["id"] = .data(entry.reference.id.bytes)
    row["item"] = .data(entry.item.named.encoded)
    row["version"] = .integer(entry.version)
    row["time"] = .time(removed)
    return row
  }
}

extension Item {
  /// With its primary attributes alone, which are short.
  fileprivate var named: Item {
    var item = Item(itemClass)
    for (name, _) in itemClass.primaryAttributes { item.attributes[name] = attributes[name] }
    return item
  }
}
