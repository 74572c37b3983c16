import Coffer
import CofferSync
import VaultCore

/// The items of the shared groups, as they lie in the vault.
struct SharedItems {
  /// By their tags.
  private(set) var entries: [Identifier: Entry] = [:]
  /// How many each group has.
  private(set) var counts: [AccessGroup: Int] = [:]
  /// A record that could not be read: an item that is not found may be that.
  private(set) var damage: KeychainError?
  /// Groups that the vault does not have: it never had them, or they were renamed or removed as a whole.
  private(set) var missingGroups: Set<AccessGroup> = []

  init() {}

  mutating func add(_ entry: Entry, _ tag: Identifier) { entries[tag] = entry }

  /// The tag of an item that is shared. Items of this device alone stay here, and those that are too long.
  static func tag(of entry: Entry) -> Identifier? {
    guard let content = try? ItemContent(entry), content.bytes.count <= ItemContent.maximumByteCount else { return nil }
    return content.tag
  }

  /// - Throws: as `Keychain.items`.
  init(of groups: Set<AccessGroup>, in keychain: Keychain) throws {
    for group in groups.sorted() {
      guard try keychain.contains(group) else {
        missingGroups.insert(group)
        continue
      }
      let listing = try keychain.listing(KeychainQuery(group: group))
      damage = damage ?? listing.damaged.first
      for entry in listing.entries {
        guard let tag = Self.tag(of: entry) else { continue }
        entries[tag] = entry
        counts[group, default: 0] += 1
      }
    }
  }
}
