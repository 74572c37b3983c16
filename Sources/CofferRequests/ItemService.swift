import AccessRights
import SecretMemory
package import VaultCore
import VaultUpkeep

/// Carries out requests about items, in any process: checks the rights, finds the item, makes the change.
package struct ItemService {
  let caller: Caller
  let now: Timestamp
  private let index: ItemIndex?

  /// - Parameter index: The index of the vault to which the requests are made; nil: each search walks over it.
  package init(_ caller: Caller, at now: Timestamp, index: ItemIndex? = nil) {
    (self.caller, self.now, self.index) = (caller, now, index)
  }

  /// Checks the rights of the caller, and carries the request out. The owner's confirmation is the caller's part: all of
  /// `confirmations(for:in:)` must have been agreed to, in the same transaction.
  /// - Parameter allowed: Called when the rights to a change have been checked, before it is committed, with the item if the
  ///   request does not name it. If it throws, the change is undone.
  package func carryOut(
    _ request: consuming ItemRequest, in vault: inout Vault, allowed: (Reference?) throws -> Void = { _ in }
  ) throws -> Answer {
    switch consume request {
    case .entitlements:
      return .entitlements(try entitlements(in: vault), application: caller.application)
    case .items(let itemClass, let group, let attributes):
      return .entries(try items(ItemSearch(itemClass, attributes), in: group, of: vault))
    case .contains(let group):
      try checkAny(group)
      return .flag(try vault.contains(group))
    case .entry(let reference):
      try checkAny(reference.group)
      return .entries(Answer.Entries([try vault.entry(reference)]))
    case .secret(let reference, _):
      try caller.check(reference.group, .read)
      guard caller.needsEntries else { return .secret(try vault.secret(of: reference), entry: nil) }
      var entry: Entry?
      let secret = try vault.secret(of: reference, &entry)
      return .secret(secret, entry: entry)
    case .add(let item, let secret, let group, let accessible, let installBound):
      return try add(item, secret, to: group, accessible, installBound, in: &vault, allowed)
    case .addAll(let new, let group, let accessible):
      return try addAll(new, to: group, accessible, in: &vault, allowed)
    case .update(let reference, let generation, let item, let secret, let accessible):
      try checkUpdate(reference, accessible, in: vault)
      try allowed(nil)
      return try update(reference, generation, item, secret, accessible, in: &vault)
    case .move(let reference, let generation, let item, let group):
      try checkMove(reference, to: group)
      try allowed(nil)
      return try move(reference, generation, item, to: group, in: &vault)
    case .remove(let reference, let generation, let mustKeep):
      try caller.check(reference.group, .write)
      try allowed(nil)
      return .flag(
        try remove(mustKeep: mustKeep, in: &vault) { transaction, now in
          if let generation { _ = try Self.entry(reference, generation, &transaction) }
          return try transaction.remove(reference, at: now)
        })
    case .discard(let item, let group, let mustKeep):
      try caller.check(group, .write)
      try allowed(nil)
      return .flag(try remove(mustKeep: mustKeep, in: &vault) { try $0.remove(item, in: group, at: $1) })
    case .history(let reference):
      try caller.check(reference.group, .read)
      return .rows(try vault.history(of: reference).rows)
    case .removed(let itemClass, let group, let attributes):
      return .rows(try removed(ItemSearch(itemClass, attributes), in: group, of: vault))
    case .version(let reference, let number, _):
      try caller.check(reference.group, .read)
      return .secret(try vault.secret(of: reference, version: number))
    case .restore(let reference, let number):
      try caller.check(reference.group, .write)
      try allowed(nil)
      return .reference(try vault.transaction { try $0.restore(reference, version: number, at: now) })
    case .purge(let reference, let scope):
      try caller.check(reference.group, .write)
      try caller.checkEndsVersions()
      try allowed(nil)
      return .rows([Self.count(try purge(reference, scope, in: &vault))])
    case .purgeExpired(let group, let removed):
      if let group { try caller.check(group, .write) }
      if removed { try caller.checkEndsVersions() }
      try allowed(nil)
      return .rows([try purgeExpired(in: group, removedItems: removed, of: &vault)])
    }
  }

  /// A look-up by the complete name needs any right to the group; listing is a right of its own.
  private func items(_ search: ItemSearch, in group: AccessGroup?, of vault: borrowing Vault) throws -> Answer.Entries {
    guard let item = search.exactItem else {
      return try search.entries(in: vault, index, caller.groups(for: .list, in: group)) { allows($0, .list) }
    }
    if let group { try checkAny(group) }
    let held = try group.map { [$0] } ?? caller.entitlements?.groups.map(\.group) ?? Self.groups(vault)
    let groups = held.filter { allowsAny($0) }
    // Where nothing is left, the rule is the answer, and not that there is no such item.
    if groups.isEmpty, let first = held.first { try checkAny(first) }
    var (found, isComplete): ([Entry], Bool) = ([], true)
    for group in groups {
      do {
        if let entry = try vault.entry(item, in: group) { found.append(entry) }
      } catch VaultError.Code.groupNotFound {
        continue
      } catch VaultError.Code.locked {
        isComplete = false
      }
    }
    // An empty list would say that there is no such item.
    guard isComplete || !found.isEmpty else { throw KeychainError(.locked) }
    return Answer.Entries(found)
  }

  /// All that there are, `default` first. Takes a walk over the vault.
  static func groups(_ vault: borrowing Vault) throws -> [AccessGroup] {
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

  func allows(_ group: AccessGroup, _ rights: Entitlements.Rights) -> Bool {
    (try? caller.check(group, rights)) != nil
  }

  private static let eachRight: [Entitlements.Rights] = [.list, .write, .read]

  private func allowsAny(_ group: AccessGroup) -> Bool { Self.eachRight.contains { allows(group, $0) } }

  /// A right to read or change an item includes seeing its attributes.
  private func checkAny(_ group: AccessGroup) throws {
    guard !allowsAny(group) else { return }
    try caller.check(group, .list)
  }

  // MARK: Changes

  private func add(
    _ item: Item, _ secret: borrowing Secret, to group: AccessGroup?, _ accessible: Accessibility, _ installBound: Bool,
    in vault: inout Vault, _ allowed: (Reference?) throws -> Void
  ) throws -> Answer {
    let group = try caller.groupForAdding(group)
    try caller.check(group, .write)
    let item = try caller.bind(item, installBound: installBound)
    try checkRoom(item)
    return try vault.transaction { transaction in
      if try !transaction.contains(group) { try transaction.createGroup(group, at: now) }
      let reference = try transaction.add(item, secret: secret, to: group, accessible: accessible, at: now)
      try allowed(reference)
      return try transaction.answer(reference)
    }
  }

  private func addAll(
    _ new: NewItems, to group: AccessGroup?, _ accessible: Accessibility, in vault: inout Vault,
    _ allowed: (Reference?) throws -> Void
  ) throws -> Answer {
    let group = try caller.groupForAdding(group)
    try caller.check(group, .write)
    let items = try new.items.map { try caller.bind($0, installBound: false) }
    for item in items { try checkRoom(item) }
    return try vault.transaction { transaction in
      if try !transaction.contains(group) { try transaction.createGroup(group, at: now) }
      var references: [Reference] = []
      var damage: VaultError?
      var start = 0
      for (item, count) in zip(items, new.byteCounts) {
        let secret = try new.secrets.copy(start, count)
        let reference = try transaction.add(item, secret: secret, to: group, accessible: accessible, at: now)
        if case .reference(_, let damaged?) = try transaction.answer(reference) { damage = damage ?? damaged }
        references.append(reference)
        start += count
      }
      for reference in references { try allowed(reference) }
      return .reference(references[references.count - 1], damagedHead: damage)
    }
  }

  private func update(
    _ reference: Reference, _ generation: UInt64, _ item: Item, _ secret: borrowing Secret?, _ accessible: Accessibility?,
    in vault: inout Vault
  ) throws -> Answer {
    try checkRoom(item)
    let change = { (old: inout Item) throws in
      try Self.check(item, inPlaceOf: old)
      old = item
    }
    func current(_ transaction: inout Transaction) throws { _ = try Self.entry(reference, generation, &transaction) }
    switch secret {
    case .none:
      return try vault.transaction { transaction in
        try current(&transaction)
        let new = try transaction.update(reference, accessible: accessible, at: now, change)
        return try transaction.answer(new, from: reference)
      }
    case .some(let secret):
      // The owner agrees to one of them, and is not shown the other.
      guard accessible == nil else {
        throw KeychainError(.notAllowed, "a protection class and a secret change in two requests")
      }
      return try vault.transaction { transaction in
        try current(&transaction)
        let new = try transaction.update(reference, secret: secret, at: now, change)
        return try transaction.answer(new, from: reference)
      }
    }
  }

  /// Another class seals the secret anew, and says when and where it can be read: to choose that takes the right to read it.
  private func checkUpdate(_ reference: Reference, _ accessible: Accessibility?, in vault: borrowing Vault) throws {
    try caller.check(reference.group, .write)
    guard let accessible, !allows(reference.group, .read) else { return }
    // The generation in the request says that it is of this class in the transaction too.
    if try vault.entry(reference).accessibility != accessible { try caller.check(reference.group, .read) }
  }

  /// To move is to read: the right to do so is needed where the item lies.
  private func checkMove(_ reference: Reference, to group: AccessGroup) throws {
    try caller.check(reference.group, [.read, .write])
    _ = try caller.groupForAdding(group)
    if group != reference.group { try caller.check(group, .write) }
  }

  private func move(
    _ reference: Reference, _ generation: UInt64, _ item: Item, to group: AccessGroup, in vault: inout Vault
  ) throws -> Answer {
    try checkRoom(item)
    return try vault.transaction { transaction in
      let old = try Self.entry(reference, generation, &transaction)
      try Self.check(item, inPlaceOf: old.item)
      if try !transaction.contains(group) { try transaction.createGroup(group, at: now) }
      let new = try transaction.move(reference, to: group, at: now) { $0 = item }
      return try transaction.answer(new, from: reference)
    }
  }

  private static func entry(_ reference: Reference, _ generation: UInt64, _ transaction: inout Transaction) throws -> Entry {
    let entry = try transaction.entry(reference)
    guard entry.generation == generation else { throw KeychainError(.conflict, "the item has been changed in between") }
    return entry
  }

  /// Checks the attributes that a change must keep.
  private static func check(_ item: Item, inPlaceOf old: Item) throws {
    guard old.itemClass == item.itemClass else { throw KeychainError(.notAllowed, "an item stays of its class") }
    guard old.attributes[Item.installBound] == item.attributes[Item.installBound] else { throw Caller.boundByKeychain }
  }
}

extension Vault {
  /// A secret and its item, in one transaction: the way to it is proven once.
  fileprivate borrowing func secret(of reference: Reference, _ entry: inout Entry?) throws -> Secret {
    try reading { state, keyring in
      let found = try state.item(reference, keyring)
      entry = try state.openItem(found.record, meta: found.meta, group: found.group)
      return try state.openSecret(found.record, meta: found.meta, group: found.group)
    }
  }
}

extension ProvenState {
  /// - Throws: `notFound`, `groupNotFound`; integrity errors.
  func item(_ reference: Reference, _ keyring: Keyring) throws -> (record: RecordHead, meta: RecordMeta, group: GroupKeys) {
    let group = try keyring.existing(reference.group, in: self)
    guard let record = try record(reference.id) else { throw VaultError(.notFound) }
    return (record, try itemMeta(record, in: group), group)
  }
}
