internal import Glibc
public import VaultCore

extension Keychain {
  /// Adds an item.
  /// - Parameters:
  ///   - group: Nil for the first that the caller may write to.
  ///   - accessible: …ThisDevice classes need the device key (`coffer vault init` makes it).
  ///   - installBound: Whether it goes when the app is removed. Only an app has such items.
  /// - Throws: `duplicate`, `missingEntitlement`, `confirmationNeeded`, `locked`, `notAllowed`, `otherDevice`; `integrity`, `busy`, `full`, `storage`, `inDoubt`.
  @discardableResult
  public func add(
    _ item: Item, secret: borrowing Secret, group: AccessGroup? = nil, accessible: Accessibility = .whenUnlocked,
    installBound: Bool = false
  ) throws -> Reference {
    try write { transaction, access in
      let group = try access.groupForAdding(group)
      let item = try access.bind(item, installBound: installBound)
      let now = Timestamp.now
      if try !transaction.contains(group) { try transaction.createGroup(group, at: now) }
      return try transaction.add(item, secret: secret, to: group, accessible: accessible, at: now)
    }
  }

  /// The items that are meant, without their secrets, ordered by group as the caller holds them. Where class and all primary attributes are
  /// said, one proven look-up in each group; else a walk over the whole vault, about 9 us for each item.
  /// - Throws: `missingEntitlement` where a group is named; `locked`; `integrity`, …
  public func items(_ query: KeychainQuery = KeychainQuery()) throws -> [Entry] {
    try read { vault, access in
      let held = try access.groups(for: .list, in: query.group)
      if let item = query.exactItem {
        return try (held ?? Self.groups(vault)).compactMap { group in
          try vault.contains(group) ? try vault.entry(item, in: group) : nil
        }
      }
      let wanted = held.map { Set($0) }
      let entries = try vault.entries { (wanted?.contains($0.reference.group) ?? true) && query.matches($0.item) }.entries
      guard let held else { return entries }
      let found = Dictionary(grouping: entries, by: \.reference.group)
      return held.flatMap { found[$0] ?? [] }
    }
  }

  /// The one item that is meant.
  /// - Throws: `notFound`; `duplicate` where several are; as `items`.
  public func item(_ query: KeychainQuery) throws -> Entry {
    let found = try items(query)
    guard let first = found.first else { throw KeychainError(.notFound) }
    guard found.count == 1 else { throw KeychainError(.duplicate, "\(found.count) items are meant") }
    return first
  }

  /// The secret of an item, in locked memory.
  /// - Throws: `notFound`, `missingEntitlement`, `confirmationNeeded`, `locked`, `otherDevice`; `integrity`, …
  public func secret(of reference: Reference) throws -> Secret {
    try read { vault, access in
      try access.check(reference.group, .read)
      return try vault.secret(of: reference)
    }
  }

  /// Changes the attributes and keeps the secret.
  /// - Returns: The reference afterwards: another one if a primary attribute changed.
  /// - Throws: `notFound`, `duplicate`, `missingEntitlement`, `confirmationNeeded`, `locked`, `notAllowed`; `integrity`, …
  @discardableResult
  public func update(_ reference: Reference, _ change: (inout Item) throws -> Void) throws -> Reference {
    try write { transaction, access in
      try access.check(reference.group, .write)
      return try transaction.update(reference, at: .now) { try Access.keepingBound(&$0, change) }
    }
  }

  /// Changes the secret, and the attributes if wanted.
  /// - Throws: as `update`.
  @discardableResult
  public func update(
    _ reference: Reference, secret: borrowing Secret, _ change: (inout Item) throws -> Void = { _ in }
  ) throws -> Reference {
    try write { transaction, access in
      try access.check(reference.group, .write)
      return try transaction.update(reference, secret: secret, at: .now) { try Access.keepingBound(&$0, change) }
    }
  }

  /// Puts an item into another group that the caller holds. To move is to read: the right to do so is needed where it lies.
  /// - Throws: `notFound`, `duplicate`, `missingEntitlement`, `confirmationNeeded`, `locked`; `integrity`, …
  @discardableResult
  public func move(_ reference: Reference, to group: AccessGroup) throws -> Reference {
    try write { transaction, access in
      try access.check(reference.group, [.read, .write])
      _ = try access.groupForAdding(group)
      if try !transaction.contains(group) { try transaction.createGroup(group, at: .now) }
      return try transaction.move(reference, to: group, at: .now)
    }
  }

  /// - Throws: `notFound`, `missingEntitlement`, `confirmationNeeded`, `locked`; `integrity`, …
  public func remove(_ reference: Reference) throws {
    try write { transaction, access in
      try access.check(reference.group, .write)
      try transaction.remove(reference)
    }
  }
}

extension Timestamp {
  static var now: Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }
}
