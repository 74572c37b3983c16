import Coffer
import CofferLifecycle
import SecretMemory
import VaultCore

/// The stamp of a space in the vault.
struct PlaceItem {
  private static let attribute = "user.place"

  let stamp: Stamp
  /// Values of lower versions were in the vault when it got the stamp.
  let version: UInt64

  private static func entry(of space: Identifier, in keychain: Keychain) throws -> Entry? {
    try keychain.items(KeychainQuery(service: SyncPlace.service, account: space.description, group: SyncPlace.group)).first
  }

  /// - Returns: nil if the vault has none.
  init?(of space: Identifier, in keychain: Keychain) throws {
    guard let entry = try Self.entry(of: space, in: keychain), case .data(let bytes)? = entry.item.attributes[Self.attribute],
      bytes.count == Stamp.byteCount, let instance = Identifier(bytes[..<16])
    else { return nil }
    stamp = Stamp(instance: instance, count: bytes[16...].reversed().reduce(0) { $0 << 8 | UInt64($1) })
    version = entry.version
  }

  private static func item(of space: Identifier) -> Item { Item(service: SyncPlace.service, account: space.description) }

  /// Removes it, also one that this device cannot open.
  static func discard(of space: Identifier, from keychain: Keychain) throws {
    do { try keychain.remove(item(of: space), in: SyncPlace.group) } catch KeychainError.Code.notFound {}
  }

  static func remove(of space: Identifier, from keychain: Keychain) throws {
    if let entry = try entry(of: space, in: keychain) { try keychain.removeForGood(entry.reference) }
  }

  static func write(_ stamp: Stamp, of space: Identifier, in keychain: Keychain) throws {
    let value = AttributeValue.data(stamp.bytes)
    if let entry = try entry(of: space, in: keychain) {
      try keychain.update(entry.reference) { $0.attributes[attribute] = value }
    } else {
      var item = item(of: space)
      item.label = "How far this vault is in a space of coffer sync"
      item.attributes[attribute] = value
      try keychain.add(item, secret: Secret(count: 0), group: SyncPlace.group, accessible: .whenUnlockedThisDevice)
    }
  }
}
