package import AccessRights
import SecretMemory
public import VaultCore
import VaultUpkeep

/// A question to the owner before a request is carried out. Two are equal if all that the owner is shown, and all that the
/// question comes from, is equal.
package struct Confirmation: Equatable, Sendable {
  /// The subject of an agreement that holds for a time.
  package enum Subject: Hashable, Sendable {
    /// Granted with the wish to be asked.
    case group(AccessGroup)
    /// The item itself says so.
    case item(Reference)
  }

  package enum Deed: Hashable, Sendable {
    case read, add, change
    case move(to: AccessGroup)
    case remove
    /// Another protection class, which says when and where the secret can be read.
    case reclassify(Accessibility)
    /// A change of the attribute that requires this question.
    case changeConfirmation
  }

  package let subject: Subject
  package let deed: Deed
  /// Those that are used.
  package let rights: Entitlements.Rights
  package let group: AccessGroup
  /// Where it lies, and as it is now. The class and the attributes that make it unique are what the owner reads.
  package let entry: Entry?
  /// The item; the new one if there is none yet.
  package let item: Item
  /// The purpose that the caller states.
  package let purpose: String
  /// For how long the owner may agree at most. 0: only this once. Nil: as long as is usual.
  package let minutes: UInt64?
  /// The caller's grants in this group, at this moment.
  package let grants: [Grant]

  package init(
    subject: Subject, deed: Deed, rights: Entitlements.Rights, group: AccessGroup, entry: Entry?, item: Item, purpose: String,
    minutes: UInt64?, grants: [Grant]
  ) {
    (self.subject, self.deed, self.rights, self.group) = (subject, deed, rights, group)
    (self.entry, self.item, self.purpose, self.minutes, self.grants) = (entry, item, purpose, minutes, grants)
  }
}

extension ItemService {
  /// Whether the owner is asked whatever the item says.
  package func asks(aboutReading group: AccessGroup) -> Bool { !caller.isOwner && caller.needsConfirmation(group, .read) }

  /// The questions to the owner before this request. Rights are checked first, so a caller without rights causes no question.
  /// - Throws: `missingEntitlement`; integrity errors.
  package func confirmations(for request: borrowing ItemRequest, in vault: borrowing Vault) throws -> [Confirmation] {
    guard !caller.isOwner else { return [] }
    switch request {
    case .entitlements: return []
    case .items: return []
    case .contains: return []
    case .entry: return []
    case .secret(let reference, let purpose):
      return try about(reference, .read, .read, purpose, in: vault)
    case .add(let item, _, let group, _, _):
      let group = try caller.groupForAdding(group)
      return try ofGroup(group, .write, .add, nil, item, in: vault)
    case .addAll(let new, let group, _):
      let group = try caller.groupForAdding(group)
      guard try ofGroup(group, .write, .add, nil, new.items[0], in: vault).isEmpty else {
        throw KeychainError(.notAllowed, "the owner is asked about each item, which takes a request of its own")
      }
      return []
    case .update(let reference, _, let item, _, let accessible):
      try caller.check(reference.group, .write)
      guard let entry = try vault.existingEntry(reference) else { return [] }
      if let accessible, accessible != entry.accessibility {
        let asked = try about(reference, .reclassify(accessible), [.read, .write], "", in: vault)
        // The question about the class says nothing of a change that comes with it.
        let changed = item.attributes == entry.item.attributes ? [] : try aboutChanging(reference, .change, in: vault)
        return try asked + aboutConfirmation(entry, item, in: vault) + changed
      }
      let asked = try aboutConfirmation(entry, item, in: vault)
      return try asked.isEmpty ? ofGroup(reference.group, .write, .change, entry, entry.item, in: vault) : asked
    case .move(let reference, generation: _, _, let group):
      _ = try caller.groupForAdding(group)
      let source = try about(reference, .move(to: group), [.read, .write], "", in: vault)
      guard let entry = try vault.existingEntry(reference) else { return source }
      return try group == reference.group
        ? source : source + ofGroup(group, .write, .move(to: group), entry, entry.item, in: vault)
    case .remove(let reference, generation: _, mustKeep: _): return try aboutChanging(reference, .remove, in: vault)
    case .history(let reference):
      try caller.check(reference.group, .read)
      return []
    case .removed: return []
    case .version(let reference, _, let purpose): return try aboutVersion(reference, .read, .read, purpose, in: vault)
    case .restore(let reference, _): return try aboutVersion(reference, .change, .write, "", in: vault)
    case .purge(let reference, _): return try aboutChanging(reference, .remove, in: vault)
    case .purgeExpired: return []
    case .discard(let item, let group, mustKeep: _): return try ofGroup(group, .write, .remove, nil, item, in: vault)
    }
  }

  /// The question for requests that return the secret. The item's own is the stricter one: it is about less, and covers the
  /// group.
  private func about(
    _ reference: Reference, _ deed: Confirmation.Deed, _ rights: Entitlements.Rights, _ purpose: String, in vault: borrowing Vault
  ) throws -> [Confirmation] {
    try caller.check(reference.group, rights)
    guard let entry = try vault.existingEntry(reference) else { return [] }
    guard let minutes = entry.item.confirmMinutes else {
      return try ofGroup(reference.group, rights, deed, entry, entry.item, purpose, in: vault)
    }
    return [try ofItem(entry, deed, rights, purpose, minutes: deed == .read ? minutes : 0, in: vault)]
  }

  /// Asked each time, because a version may have the attribute `confirm` which the item has no longer, and the other way round.
  private func aboutVersion(
    _ reference: Reference, _ deed: Confirmation.Deed, _ rights: Entitlements.Rights, _ purpose: String, in vault: borrowing Vault
  ) throws -> [Confirmation] {
    try caller.check(reference.group, rights)
    guard let entry = try vault.existingEntry(reference) else { return [] }
    return [try ofItem(entry, deed, rights, purpose, minutes: 0, in: vault)]
  }

  /// The item's own question, if the attribute that requires it is to change.
  private func aboutConfirmation(_ entry: Entry, _ new: Item, in vault: borrowing Vault) throws -> [Confirmation] {
    guard let minutes = entry.item.attributes[Item.confirm], new.attributes[Item.confirm] != minutes else { return [] }
    return [try ofItem(entry, .changeConfirmation, .write, "", minutes: 0, in: vault)]
  }

  private func aboutChanging(
    _ reference: Reference, _ deed: Confirmation.Deed, in vault: borrowing Vault
  ) throws -> [Confirmation] {
    try caller.check(reference.group, .write)
    guard let entry = try vault.existingEntry(reference) else { return [] }
    return try ofGroup(reference.group, .write, deed, entry, entry.item, in: vault)
  }

  private func ofItem(
    _ entry: Entry, _ deed: Confirmation.Deed, _ rights: Entitlements.Rights, _ purpose: String, minutes: UInt64,
    in vault: borrowing Vault
  ) throws -> Confirmation {
    let group = entry.reference.group
    return Confirmation(
      subject: .item(entry.reference), deed: deed, rights: rights, group: group, entry: entry, item: entry.item, purpose: purpose,
      minutes: minutes,
      grants: try grants(in: group, vault))
  }

  private func ofGroup(
    _ group: AccessGroup, _ rights: Entitlements.Rights, _ deed: Confirmation.Deed, _ entry: Entry?, _ item: Item,
    _ purpose: String = "", in vault: borrowing Vault
  ) throws -> [Confirmation] {
    try caller.check(group, rights)
    guard caller.needsConfirmation(group, rights) else { return [] }
    return [
      Confirmation(
        subject: .group(group), deed: deed, rights: rights, group: group, entry: entry, item: item, purpose: purpose,
        minutes: nil,
        grants: try grants(in: group, vault))
    ]
  }

  private func grants(in group: AccessGroup, _ vault: borrowing Vault) throws -> [Grant] {
    try vault.grants(to: caller.application ?? Caller.commandName).filter { $0.group == group }
  }
}

extension Vault {
  /// The item, or as it was when it was removed. Returns nil if there is no such item; the request itself reports that.
  fileprivate borrowing func existingEntry(_ reference: Reference) throws -> Entry? {
    do {
      return try history(of: reference).entry
    } catch let error as VaultError where error.code == .notFound || error.code == .groupNotFound {
      return nil
    }
  }
}

extension Item {
  /// For how many minutes the owner may agree at most, where the owner is asked before the secret is given to anybody else: 0
  /// for each time. nil: the item asks for no confirmation.
  public var confirmMinutes: UInt64? {
    get { if case .integer(let minutes)? = attributes[Item.confirm] { minutes } else { nil } }
    set { attributes[Item.confirm] = newValue.map { .integer($0) } }
  }
}
