import SecretMemory
import VaultCore

/// Names the items of a vault that may have given attributes, so that a search opens these and not all items. For one thread.
///
/// It is made by a walk over the vault at the first search, and follows the changes that its owner reports. If others have changed the vault,
/// the next search makes it anew. It holds references and hashes, under the key that the process has for `Hasher`, and no value: an item that
/// it names is proven, opened and compared like any other.
package final class ItemIndex {
  /// The state of the vault that it describes.
  private var generation: UInt64?
  /// Whether the next search compares the vault with its anchor, as `Vault.generation` does.
  package var comparesAnchor = true
  /// nil for an item that was removed.
  private var references: [Reference?] = []
  private var removedCount = 0
  /// Items that were added or changed since the last search.
  private var changed: Set<Reference> = []
  /// By the hash of an attribute, or of a reference: the number of links, and the first of them.
  private var chains: [Int: (count: UInt32, first: UInt32)] = [:]
  /// `item` is an index of `references`, `next` one of `links`.
  private var links: [(item: UInt32, next: UInt32)] = []
  private static let end = UInt32.max
  /// The walk that made it, with no entries.
  private var walk: ItemSearch.Walk?

  package init() {}

  /// The vault is another one, or other items of it can be opened.
  package func clear() {
    generation = nil
    (references, removedCount, changed, chains, links, walk) = ([], 0, [], [:], [], nil)
  }

  /// Items were changed by the owner of this index.
  /// - Parameters:
  ///   - before: The generation that was seen last before.
  ///   - after: The one that came of it. If it is not the next one, another process has changed something in between.
  package func follow(_ notices: [Notice], from before: UInt64, to after: UInt64) {
    guard generation == before, after == before + 1 || after == before else { return }
    for notice in notices {
      guard let reference = notice.reference else { return clear() }
      remove(reference)
      if case .removed = notice { changed.remove(reference) } else { changed.insert(reference) }
    }
    generation = after
    // A new walk costs no more than so many items that are opened one by one, or links to items that are gone.
    if changed.count + removedCount > references.count / 2 + 64 { clear() }
  }

  /// As a walk over the vault with this condition.
  /// - Parameter isWanted: Called with the group of an item.
  /// - Returns: nil if the search has no attributes: then all items are walked over.
  func walk(for search: ItemSearch, in vault: borrowing Vault, _ isWanted: (AccessGroup) -> Bool) throws -> ItemSearch.Walk? {
    guard search.attributes.contains(where: { _ in true }) else { return nil }
    if !comparesAnchor, changed.isEmpty, let found = try found(search, in: vault, isWanted) { return found }
    try refresh(from: vault)
    comparesAnchor = false
    // Another process may have changed something since.
    if let found = try found(search, in: vault, isWanted) { return found }
    return try ItemSearch.Walk(vault) { isWanted($0.reference.group) && search.matches($0.item) }
  }

  /// - Returns: nil if this is the index of another state of the vault.
  private func found(
    _ search: ItemSearch, in vault: borrowing Vault, _ isWanted: (AccessGroup) -> Bool
  ) throws -> ItemSearch.Walk? {
    guard var walk else { return nil }
    let isCurrent = try vault.reading { state, keyring in
      guard state.header.generation == generation else { return false }
      for reference in items(with: search.attributes) where isWanted(reference.group) {
        do {
          let found = try state.item(reference, keyring)
          let entry = try state.openItem(found.record, meta: found.meta, group: found.group)
          if search.matches(entry.item) { walk.entries.append(entry) }
        } catch let error as VaultError where error.code.concernsOneRecord {
          walk.damaged.append(error)
        }
      }
      return true
    }
    guard isCurrent else { return nil }
    walk.entries.sort { ($0.reference.group, $0.reference.id) < ($1.reference.group, $1.reference.id) }
    return walk
  }

  // MARK: Contents

  private func refresh(from vault: borrowing Vault) throws {
    guard try generation == vault.generation() else { return try build(from: vault) }
    do {
      for reference in changed { insert(try vault.entry(reference)) }
      changed = []
    } catch is VaultError {
      // Another process has removed it since, or it is damaged.
      try build(from: vault)
    }
  }

  private func build(from vault: borrowing Vault) throws {
    clear()
    walk = try ItemSearch.Walk(vault) {
      insert($0)
      return false
    }
    generation = vault.lastGeneration
  }

  /// Those that have the one of these attributes which the fewest have.
  private func items(with attributes: Attributes) -> [Reference] {
    let chains = attributes.map { self.chains[Self.hash($0.name, $0.value)] }
    guard let shortest = chains.min(by: { $0?.count ?? 0 < $1?.count ?? 0 }) ?? nil else { return [] }
    var found: [Reference] = []
    forEachItem(of: shortest.first) { index in
      if let reference = references[index] { found.append(reference) }
    }
    return found
  }

  private func insert(_ entry: Entry) {
    let index = UInt32(references.count)
    references.append(entry.reference)
    link(index, Self.hash(entry.reference))
    for (name, value) in entry.item.attributes { link(index, Self.hash(name, value)) }
    // An absent primary attribute is an empty one.
    for (name, absent) in entry.item.itemClass.primaryAttributes where entry.item.attributes[name] == nil {
      link(index, Self.hash(name, absent))
    }
  }

  private func remove(_ reference: Reference) {
    guard let chain = chains[Self.hash(reference)] else { return }
    forEachItem(of: chain.first) { index in
      guard references[index] == reference else { return }
      references[index] = nil
      removedCount += 1
    }
  }

  private func link(_ item: UInt32, _ hash: Int) {
    let chain = chains[hash]
    links.append((item, chain?.first ?? Self.end))
    chains[hash] = ((chain?.count ?? 0) + 1, UInt32(links.count - 1))
  }

  private func forEachItem(of first: UInt32, _ body: (Int) -> Void) {
    var link = first
    while link != Self.end {
      body(Int(links[Int(link)].item))
      link = links[Int(link)].next
    }
  }

  private static func hash(_ reference: Reference) -> Int {
    var hasher = Hasher()
    hasher.combine(reference)
    return hasher.finalize()
  }

  private static func hash(_ name: String, _ value: AttributeValue) -> Int {
    var hasher = Hasher()
    hasher.combine(name)
    switch value {
    case .text(let text): hasher.combine(text)
    case .data(let bytes): hasher.combine(bytes)
    case .integer(let number): hasher.combine(number)
    case .time(let time): hasher.combine(time.secondsSince1970)
    }
    return hasher.finalize()
  }
}
