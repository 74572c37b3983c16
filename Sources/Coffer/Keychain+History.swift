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
  /// - Throws: `missingEntitlement`, `locked`; `integrity`, …
  public func removedItems(in group: AccessGroup? = nil) throws -> [RemovedItem] {
    try transport.answer(.removed(group)).rows().map { try RemovedItem($0) }
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
    try transport.answer(.restore(reference, version)).reference()
  }

  /// Removes a former version for good, or all of them. Copies of the vault's file still have them.
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
  /// - Throws: `missingEntitlement`, `locked`; `integrity`, …
  package func purgeExpired(in group: AccessGroup? = nil, removedItems: Bool) throws -> Int {
    try transport.answer(.purgeExpired(group, removed: removedItems)).count()
  }
}

extension Answer {
  fileprivate consuming func rows() throws -> [Attributes] {
    guard case .rows(let rows) = consume self else { throw KeychainError.otherAnswer }
    return rows
  }

  fileprivate consuming func count() throws -> Int {
    guard case .integer(let count)? = try rows().first?["count"] else { throw KeychainError.otherAnswer }
    return Int(clamping: count)
  }
}
