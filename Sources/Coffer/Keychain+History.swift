internal import CofferRequests
internal import CofferWire
public import SecretMemory
public import VaultCore

/// A version of an item, without its value.
public struct KeychainVersion: Equatable, Sendable {
  /// The value's place in the item's life.
  public enum State: String, Sendable {
    /// The value that the item has.
    case present
    /// Another value has taken its place.
    case changed
    /// The item was removed with this value.
    case removed
  }

  /// Its number: the generation of the vault that made the value.
  public let number: UInt64
  /// Whether it is the present one.
  public let state: State
  /// The time of the last change; of a former version the time at which it ceased to be the present one.
  public let time: Timestamp?

  init(_ row: Attributes) throws(KeychainError) {
    guard case .integer(let number)? = row["version"], case .text(let text)? = row["state"], let state = State(rawValue: text)
    else { throw .otherAnswer }
    (self.number, self.state) = (number, state)
    if case .time(let time)? = row["time"] { self.time = time } else { time = nil }
  }
}

/// A removed item that can be restored.
public struct RemovedItem: Equatable, Sendable {
  /// The reference that it had, by which it is restored.
  public let reference: Reference
  /// The class and the attributes that named it.
  public let item: Item
  /// The number of its last version.
  public let version: UInt64
  /// The time at which it was removed.
  public let removed: Timestamp

  init(_ row: Attributes) throws {
    guard case .text(let group)? = row["group"], case .data(let id)? = row["id"], case .data(let item)? = row["item"],
      case .integer(let version)? = row["version"], case .time(let removed)? = row["time"], let id = Identifier(id)
    else { throw KeychainError.otherAnswer }
    reference = Reference(group: try AccessGroup(group), id: id)
    self.item = try Item(decoding: item)
    (self.version, self.removed) = (version, removed)
  }
}

extension Keychain {
  /// The versions of an item, newest first; also of a removed one. The vault keeps as many as its policy allows.
  /// - Throws: `notFound`, `missingEntitlement`, `locked`, `otherDevice`; `integrity`, …
  public func history(of reference: Reference) throws -> [KeychainVersion] {
    try transport.answer(.history(reference)).rows().map { try KeychainVersion($0) }
  }

  /// The removed items that can be restored. A walk over all former versions.
  /// - Throws: `missingEntitlement`, `locked`; `integrity` for a record that may be a removed item and is damaged, …
  public func removedItems(in group: AccessGroup? = nil) throws -> [RemovedItem] {
    let found = try removedListing(KeychainQuery(group: group))
    if let damage = found.damage { throw damage }
    return found.items
  }

  /// The same, with the records that could not be read: their number, and the first of them. If class and all primary attributes are
  /// given, this takes one proven look-up in each group.
  package func removedListing(
    _ query: KeychainQuery
  ) throws -> (items: [RemovedItem], damagedCount: Int, damage: KeychainError?) {
    var rows = try transport.answer(.removed(query.itemClass, query.group, query.attributes)).rows()
    guard let last = rows.last, case .integer(let count)? = last["damaged"] else {
      return (try rows.map { try RemovedItem($0) }, 0, nil)
    }
    guard case .text(let code)? = last["code"], case .text(let detail)? = last["detail"] else { throw KeychainError.otherAnswer }
    rows.removeLast()
    let damage = KeychainError(.integrity, cause: .vault(VaultError.Code(code)), detail)
    return (try rows.map { try RemovedItem($0) }, Int(clamping: count), damage)
  }

  /// The secret of one version of an item, also of a removed one.
  /// - Throws: as `secret(of:purpose:)`; `notFound` if the item has no such version.
  public func secret(of reference: Reference, version: UInt64, purpose: String = "") throws -> Secret {
    try transport.answer(.version(reference, version, purpose: purpose)).secret()
  }

  /// Makes a former version the present one; the present one becomes a former version. A removed item is there again.
  /// - Parameters:
  ///   - reference: The reference of the item.
  ///   - version: nil for the newest former version.
  /// - Throws: `notFound`, `missingEntitlement`, `confirmationNeeded`, `locked`, `otherDevice`; `integrity`, …
  @discardableResult
  public func restore(_ reference: Reference, version: UInt64? = nil) throws -> Reference {
    try self.reference(transport.answer(.restore(reference, version)))
  }

  /// Removes a former version for good, or all of them. Copies of the vault's file still have them. In a vault of the system agent only
  /// the owner may do that.
  /// - Returns: How many were removed.
  /// - Throws: `notFound`, `missingEntitlement`, `confirmationNeeded`, `locked`; `integrity`, …
  @discardableResult
  public func purge(_ reference: Reference, version: UInt64? = nil) throws -> Int {
    try transport.answer(.purge(reference, version.map { .version($0) } ?? .former)).count()
  }

  /// Removes an item for good, with all of its versions. Copies of the vault's file still have them.
  /// - Throws: as `purge`.
  @discardableResult
  public func removeForGood(_ reference: Reference) throws -> Int {
    try transport.answer(.purge(reference, .item)).count()
  }

  /// Removes former versions beyond the limits of the vault, or all versions of removed items.
  /// - Returns: How many were removed, and how many records are damaged: what they own stays.
  /// - Throws: `missingEntitlement`, `locked`; `integrity`, …
  package func purgeExpired(in group: AccessGroup? = nil, removedItems: Bool) throws -> (count: Int, damagedCount: Int) {
    let row = try transport.answer(.purgeExpired(group, removed: removedItems)).countRow()
    if case .integer(let damaged)? = row.row["damaged"] { return (row.count, Int(clamping: damaged)) }
    return (row.count, 0)
  }
}

extension Answer {
  fileprivate consuming func rows() throws -> [Attributes] {
    guard case .rows(let rows) = consume self else { throw KeychainError.otherAnswer }
    return rows
  }

  fileprivate consuming func count() throws -> Int { try countRow().count }

  fileprivate consuming func countRow() throws -> (count: Int, row: Attributes) {
    guard let row = try rows().first, case .integer(let count)? = row["count"] else { throw KeychainError.otherAnswer }
    return (Int(clamping: count), row)
  }
}
