public import AccessRights
package import CofferRequests
internal import CofferWire
public import SecretMemory
public import VaultCore

extension Keychain {
  /// Adds an item.
  /// - Parameters:
  ///   - item: The attributes.
  ///   - secret: The secret, at most 1 MiB.
  ///   - group: Nil for the first that the caller may write to.
  ///   - accessible: …ThisDevice classes need the device key (`coffer vault init` makes it).
  ///   - installBound: Whether it goes when the app is removed. Only an app has such items.
  /// - Throws: `duplicate`, `missingEntitlement`, `confirmationNeeded`, `locked`, `notAllowed`, `otherDevice`; `integrity`,
  ///   `busy`, `full`, `storage`, `inDoubt`.
  @discardableResult
  public func add(
    _ item: Item, secret: borrowing Secret, group: AccessGroup? = nil, accessible: Accessibility = .whenUnlocked,
    installBound: Bool = false
  ) throws -> Reference {
    try self.reference(transport.answer(.add(item, secret.duplicate(), group, accessible, installBound: installBound)))
  }

  /// Adds several items in one commit: all of them, or none.
  /// - Parameters:
  ///   - new: The items, of the class "when unlocked", with their secrets.
  ///   - group: Nil for the first that the caller may write to.
  /// - Returns: The reference of the last one.
  /// - Throws: as `add`; `notAllowed` if the owner is asked about each item.
  @discardableResult
  package func addAll(_ new: NewItems, group: AccessGroup?) throws -> Reference {
    try reference(transport.answer(.addAll(new, group, .whenUnlocked)))
  }

  /// The matching items, without their secrets, ordered by group as the caller holds them. If class and all primary attributes
  /// are given, this takes one proven look-up in each group; else a walk over the whole vault, about 9 us for each item. Items
  /// that this keychain cannot open are left out: items of another device, and while it is locked those of the classes "when
  /// unlocked".
  /// - Throws: `missingEntitlement` if a group is named; `locked` if the lock leaves no item, so that an empty list always
  ///   means that there is nothing; `integrity`, …
  public func items(_ query: KeychainQuery = KeychainQuery()) throws -> [Entry] {
    let found = try listing(query)
    // A damaged record is reported, because the item would otherwise seem not to exist.
    if let damage = found.damaged.first { throw damage }
    return found.entries
  }

  /// The same, with what could not be read.
  package func listing(_ query: KeychainQuery) throws -> KeychainListing {
    KeychainListing(try transport.answer(.items(query.itemClass, query.group, query.attributes)).entries())
  }

  /// Whether there is such a group in the vault: one proven look-up. Groups come into being with their first item.
  /// - Throws: `missingEntitlement`, `locked`; `integrity`, …
  public func contains(_ group: AccessGroup) throws -> Bool { try transport.answer(.contains(group)).flag() }

  /// The one item that is meant.
  /// - Throws: `notFound`; `duplicate` where several are; as `items`.
  public func item(_ query: KeychainQuery) throws -> Entry {
    let found = try items(query)
    guard let first = found.first else { throw KeychainError(.notFound) }
    guard found.count == 1 else { throw KeychainError(.duplicate, "\(found.count) items are meant") }
    return first
  }

  /// The secret of an item, in locked memory.
  /// - Parameters:
  ///   - reference: The reference of the item.
  ///   - purpose: The text that the owner reads, if the owner is asked.
  /// - Throws: `notFound`, `missingEntitlement`, `confirmationNeeded`, `locked`, `otherDevice`; `integrity`, …
  public func secret(of reference: Reference, purpose: String = "") throws -> Secret {
    try transport.answer(.secret(reference, purpose: purpose)).secret()
  }

  /// The secret of an item, and the item.
  /// - Parameter entry: Becomes the item, if the agent has sent it along.
  package func secret(of reference: Reference, _ entry: inout Entry?) throws -> Secret {
    guard case .secret(let secret, let found) = try transport.answer(.secret(reference, purpose: "")) else {
      throw KeychainError.otherAnswer
    }
    entry = found
    return secret
  }

  /// Changes the attributes and keeps the secret.
  /// - Parameters:
  ///   - reference: The reference of the item.
  ///   - accessible: The new protection class; nil keeps it. The item is sealed anew in each case.
  ///   - change: May run more than once, if another process changes the item at the same time.
  /// - Returns: The reference afterwards: another one if a primary attribute changed.
  /// - Throws: `notFound`, `duplicate`, `missingEntitlement`, `confirmationNeeded`, `locked`, `notAllowed`, `conflict`;
  ///   `integrity`, …
  @discardableResult
  public func update(
    _ reference: Reference, accessible: Accessibility? = nil, _ change: (inout Item) throws -> Void
  ) throws -> Reference {
    try self.change(reference, change) { (entry, item) in
      try transport.answer(.update(reference, generation: entry.generation, item, nil, accessible))
    }
  }

  /// Changes the secret, and the attributes if wanted.
  /// - Throws: as `update`.
  @discardableResult
  public func update(
    _ reference: Reference, secret: borrowing Secret, _ change: (inout Item) throws -> Void = { _ in }
  ) throws -> Reference {
    try self.change(reference, change) { (entry, item) in
      try transport.answer(.update(reference, generation: entry.generation, item, secret.duplicate(), nil))
    }
  }

  /// Changes the secret of an item if it was not changed since it was read.
  /// - Throws: `conflict` if it was changed; as `update`.
  @discardableResult
  public func update(_ entry: Entry, secret: borrowing Secret) throws -> Reference {
    try self.reference(
      transport.answer(.update(entry.reference, generation: entry.generation, entry.item, secret.duplicate(), nil)))
  }

  /// How often a change is tried that meets others.
  private static let maximumTries = 100

  private func change(
    _ reference: Reference, _ change: (inout Item) throws -> Void, _ ask: (Entry, Item) throws -> Answer
  ) throws -> Reference {
    var tries = 1
    while true {
      do {
        let entry = try entry(reference)
        var item = entry.item
        try change(&item)
        return try self.reference(ask(entry, item))
      } catch let error as KeychainError where error.code == .conflict && tries < Self.maximumTries {
        tries += 1
      }
    }
  }

  /// Puts an item into another group that the caller holds. To move is to read: the right to do so is needed where it lies.
  /// - Parameters:
  ///   - reference: The reference of the item.
  ///   - group: The group to move it to.
  ///   - change: Changes attributes in the same commit, such as the name. May run more than once, as in `update`.
  /// - Throws: `notFound`, `duplicate`, `missingEntitlement`, `confirmationNeeded`, `locked`, `notAllowed`, `conflict`;
  ///   `integrity`, …
  @discardableResult
  public func move(
    _ reference: Reference, to group: AccessGroup, _ change: (inout Item) throws -> Void = { _ in }
  ) throws -> Reference {
    try self.change(reference, change) { (entry, item) in
      try transport.answer(.move(reference, generation: entry.generation, item, group))
    }
  }

  /// Removes an item. It can be restored, as long as the policy of the vault keeps it.
  /// - Returns: Whether it can be restored.
  /// - Throws: `notFound`, `missingEntitlement`, `confirmationNeeded`, `locked`; `integrity`, …
  @discardableResult
  public func remove(_ reference: Reference) throws -> Bool { try remove(reference, mustKeep: false) }

  /// Removes an item if it was not changed since it was read.
  /// - Returns: Whether it can be restored.
  /// - Throws: `conflict` if it was changed; as `remove`.
  @discardableResult
  package func remove(_ entry: Entry) throws -> Bool {
    try transport.answer(.remove(entry.reference, generation: entry.generation)).flag()
  }

  /// - Parameter mustKeep: Whether an item that could not be restored stays: `notAllowed`, because of `nothingKept`.
  @discardableResult
  package func remove(_ reference: Reference, mustKeep: Bool) throws -> Bool {
    try transport.answer(.remove(reference, mustKeep: mustKeep)).flag()
  }

  /// Removes an item by its class and primary attributes, also one that is damaged and cannot be read.
  /// - Returns: Whether it can be restored.
  /// - Throws: `notFound`, `missingEntitlement`, `confirmationNeeded`, `locked`; `integrity`, …
  @discardableResult
  public func remove(_ item: Item, in group: AccessGroup) throws -> Bool { try remove(item, in: group, mustKeep: false) }

  /// - Parameter mustKeep: As for one that can be read.
  @discardableResult
  package func remove(_ item: Item, in group: AccessGroup, mustKeep: Bool) throws -> Bool {
    try transport.answer(.discard(item, group, mustKeep: mustKeep)).flag()
  }

  // MARK: Rights

  /// The groups, in order, with the rights in each. For the owner that takes a walk over the vault.
  /// - Throws: `appNotInstalled`, `agent`; `integrity`, …
  public var entitlements: Entitlements { get throws { try transport.answer(.entitlements).entitlements().held } }

  /// The group that no other app has, `TEAM.identifier`. nil for a program that is no app.
  /// - Throws: `locked`, `appNotInstalled`; `integrity`.
  public var ownGroup: AccessGroup? {
    get throws { try transport.answer(.entitlements).entitlements().application.map { try AccessGroup($0) } }
  }

  /// An item by its reference, without its secret.
  /// - Throws: `notFound`, `missingEntitlement`, `locked`, `otherDevice`; `integrity`, …
  public func entry(_ reference: Reference) throws -> Entry {
    guard let entry = try transport.answer(.entry(reference)).entries().entries.first else { throw KeychainError(.notFound) }
    return entry
  }
}

extension Answer {
  consuming func secret() throws -> Secret {
    guard case .secret(let secret, entry: _) = consume self else { throw KeychainError.otherAnswer }
    return secret
  }

  fileprivate consuming func entries() throws -> Entries {
    guard case .entries(let entries) = consume self else { throw KeychainError.otherAnswer }
    return entries
  }

  fileprivate consuming func flag() throws -> Bool {
    guard case .flag(let flag) = consume self else { throw KeychainError.otherAnswer }
    return flag
  }

  fileprivate consuming func entitlements() throws -> (held: Entitlements, application: String?) {
    guard case .entitlements(let held, let application) = consume self else { throw KeychainError.otherAnswer }
    return (held, application)
  }
}
