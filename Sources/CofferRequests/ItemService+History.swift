import AccessRights
import CofferStorage
import SecretMemory
import VaultCore
import VaultUpkeep

/// Versions of items.
extension ItemService {
  /// If the item's row cannot be kept, because it does not open, the policy keeps none or the disk is full, the item is removed all the
  /// same, unless the caller must keep it, or may not end what the policy keeps: else a program could end a value that it cannot purge,
  /// by a full disk.
  /// - Returns: Whether the item can be restored.
  /// - Throws: `nothingKept` or `missingEntitlement`, after which the item is there.
  func remove(
    mustKeep: Bool, in vault: inout Vault, _ remove: (inout Transaction, Timestamp?) throws -> Bool
  ) throws -> Bool {
    let isPolicyKept = !caller.endsVersions && vault.keepsVersions
    func checkLoss(_ reason: String) throws {
      if isPolicyKept { try caller.checkEndsVersions("nothing of it can be kept\(reason.isEmpty ? "" : ", \(reason)")") }
      guard !mustKeep else { throw VaultError(.nothingKept, reason) }
    }
    let isKept: Bool
    do {
      isKept = try vault.transaction { transaction in
        let isKept = try remove(&transaction, now)
        if !isKept { try checkLoss("") }
        return isKept
      }
    } catch StorageError(.full) {
      try checkLoss("no room on the disk")
      return try vault.transaction { try remove(&$0, nil) }
    }
    // The former versions of an item that did not open have no owner now. If this fails, the next purge finds them.
    if !isKept, !vault.isLocked, let limits = try? vault.limits(), limits.value(.historyVersions) > 0 {
      _ = try? vault.purgeExpired(at: now)
    }
    return isKept
  }

  /// For the list of as many former versions as any policy keeps.
  private static let roomForVersions = 4096

  /// The row of an item lists its former versions, and loses the oldest ones if its attributes fill it.
  /// - Throws: `notAllowed` to a caller that may not end them.
  func checkRoom(_ item: Item) throws {
    guard !caller.endsVersions, item.encoded.count > Padding.maximumCount - Self.roomForVersions else { return }
    throw KeychainError(.notAllowed, "attributes of so many bytes leave no room for former versions")
  }

  /// A complete name takes a look-up in each group; else all former versions are walked over. Then the last row counts the records that are
  /// damaged, if any: each may be a removed item.
  func removed(_ search: ItemSearch, in group: AccessGroup?, of vault: borrowing Vault) throws -> [Attributes] {
    let groups = try caller.groups(for: [.list, .read], in: group)
    func isAllowed(_ group: AccessGroup) -> Bool { groups?.contains(group) ?? allows(group, [.list, .read]) }
    if let item = search.exactItem {
      var found: [Attributes] = []
      for group in try groups ?? Self.groups(vault) where isAllowed(group) {
        do {
          if let row = try vault.removedItem(item, in: group)?.removedRow { found.append(row) }
        } catch VaultError.Code.groupNotFound { continue }
      }
      return found
    }
    var damage = Answer.Entries()
    let found = try vault.removedItems { damage.append($0) }
    return found.filter { isAllowed($0.entry.reference.group) && search.matches($0.entry.item) }.compactMap(\.removedRow)
      + damage.rows
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

  func purgeExpired(in group: AccessGroup?, removedItems: Bool, of vault: inout Vault) throws -> Attributes {
    var damage = Answer.Entries()
    func isIncluded(_ found: AccessGroup) -> Bool {
      (group ?? found) == found && allows(found, .write)
        // Removed items are what the owner can get back: a program that has to ask does not take them away unasked.
        && (!removedItems || caller.isOwner || !caller.needsConfirmation(found, .write))
    }
    let count = try vault.purgeExpired(
      at: now, removedItems: removedItems, damaged: { damage.append($0) }, where: isIncluded)
    var row = Self.count(count)
    if damage.damagedCount > 0 { row["damaged"] = .integer(damage.damagedCount) }
    return row
  }

  static func count(_ count: Int) -> Attributes {
    var row = Attributes()
    row["count"] = .integer(UInt64(count))
    return row
  }
}

extension Vault {
  /// Whether its policy keeps former versions. A damaged one does.
  fileprivate var keepsVersions: Bool {
    borrowing get {
      guard let limits = try? limits() else { return true }
      return limits.value(.historyVersions) > 0 && limits.value(.historyDays) > 0
    }
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

extension Answer.Entries {
  /// The records that could not be read, with the first of them.
  fileprivate var rows: [Attributes] {
    guard let first = damaged.first else { return [] }
    var row = Attributes()
    row["damaged"] = .integer(damagedCount)
    row["code"] = .text(first.code.name)
    row["detail"] = .text(first.detail)
    return [row]
  }
}

extension Transaction {
  /// The answer to a write that may have met a damaged head under the item's name.
  /// - Parameter old: The item's reference before; nil if it is new.
  mutating func answer(_ reference: Reference, from old: Reference? = nil) throws -> Answer {
    .reference(reference, damagedHead: reference == old ? nil : try damageOfHead(of: reference))
  }
}
