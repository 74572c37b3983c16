package import VaultCore
package import Wire

/// What is done with items when somebody asks, in whatever process: who may, where to look, and the change itself.
package struct ItemService {
  let caller: Caller
  private let now: Timestamp
  private let confirmed: [Confirmation]

  /// - Parameter confirmed: What the owner has agreed to, for this call.
  package init(_ caller: Caller, at now: Timestamp, confirmed: [Confirmation] = []) {
    self.caller = caller
    self.now = now
    self.confirmed = confirmed
  }

  /// - Throws: `KeychainError`; whatever it is made from: `VaultError`, `StorageError`.
  package func answer(_ call: consuming Call, in vault: inout Vault) throws -> Answer {
    for needed in try confirmations(for: call, in: vault) where !confirmed.contains(needed) {
      throw KeychainError(.confirmationNeeded, needed.group.name)
    }
    switch consume call {
    case .entitlements:
      return .entitlements(try entitlements(in: vault), application: caller.application)
    case .items(let itemClass, let group, let attributes):
      return .entries(
        try ItemSearch(itemClass, attributes).entries(in: vault, caller.groups(for: .list, in: group)) { allows($0, .list) })
    case .entry(let reference):
      try checkAttributes(reference.group)
      return .entries([try vault.entry(reference)])
    case .secret(let reference, _):
      try caller.check(reference.group, .read)
      return .secret(try vault.secret(of: reference))
    case .add(let item, let secret, let group, let accessible, let installBound):
      return .reference(try add(item, secret, to: group, accessible, installBound, in: &vault))
    case .update(let reference, let generation, let item, let secret):
      return .reference(try update(reference, generation, item, secret, in: &vault))
    case .move(let reference, let group): return .reference(try move(reference, to: group, in: &vault))
    case .remove(let reference):
      try caller.check(reference.group, .write)
      try vault.remove(reference)
      return .done
    default: throw KeychainError(.notAllowed, "that is no question about items")
    }
  }

  /// All that there are, `default` first. Takes a walk over the vault.
  private static func groups(_ vault: borrowing Vault) throws -> [AccessGroup] {
    [.standard] + (try vault.groups()).filter { $0 != .standard }
  }

  private func entitlements(in vault: borrowing Vault) throws -> Entitlements {
    if let entitlements = caller.entitlements { return entitlements }
    return Entitlements(
      try Self.groups(vault).map { group in
        let rights = ([.read, .write, .list] as [Entitlements.Rights]).filter { allows(group, $0) }
        return Entitlements.Group(group, rights.reduce([]) { $0.union($1) })
      }.filter { !$0.rights.isEmpty })
  }

  // MARK: Rights

  private func allows(_ group: AccessGroup, _ rights: Entitlements.Rights) -> Bool {
    (try? caller.check(group, rights)) != nil
  }

  /// Who may change an item sees what it is.
  private func checkAttributes(_ group: AccessGroup) throws {
    do {
      try caller.check(group, .list)
    } catch {
      try caller.check(group, .write)
    }
  }

  // MARK: Changes

  private func add(
    _ item: Item, _ secret: borrowing Secret, to group: AccessGroup?, _ accessible: Accessibility, _ installBound: Bool,
    in vault: inout Vault
  ) throws -> Reference {
    let group = try caller.groupForAdding(group)
    try caller.check(group, .write)
    let item = try caller.bind(item, installBound: installBound)
    return try vault.transaction { transaction in
      if try !transaction.contains(group) { try transaction.createGroup(group, at: now) }
      return try transaction.add(item, secret: secret, to: group, accessible: accessible, at: now)
    }
  }

  private func update(
    _ reference: Reference, _ generation: UInt64, _ item: Item, _ secret: borrowing Secret?, in vault: inout Vault
  ) throws -> Reference {
    try caller.check(reference.group, .write)
    let change = { (old: inout Item) throws in
      guard old.itemClass == item.itemClass else { throw KeychainError(.notAllowed, "an item stays of its class") }
      guard old.attributes[Item.installBound] == item.attributes[Item.installBound] else { throw Caller.boundByKeychain }
      old = item
    }
    func current(_ transaction: inout Transaction) throws {
      guard try transaction.entry(reference).generation == generation else {
        throw KeychainError(.conflict, "the item has been changed in between")
      }
    }
    switch secret {
    case .none:
      return try vault.transaction { transaction in
        try current(&transaction)
        return try transaction.update(reference, at: now, change)
      }
    case .some(let secret):
      return try vault.transaction { transaction in
        try current(&transaction)
        return try transaction.update(reference, secret: secret, at: now, change)
      }
    }
  }

  /// To move is to read: the right to do so is needed where the item lies.
  private func move(_ reference: Reference, to group: AccessGroup, in vault: inout Vault) throws -> Reference {
    try caller.check(reference.group, [.read, .write])
    _ = try caller.groupForAdding(group)
    try caller.check(group, .write)
    return try vault.transaction { transaction in
      if try !transaction.contains(group) { try transaction.createGroup(group, at: now) }
      return try transaction.move(reference, to: group, at: now)
    }
  }
}
