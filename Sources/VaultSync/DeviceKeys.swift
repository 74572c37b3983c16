package import Coffer
import CofferLifecycle
package import CofferSync
import SecretMemory
package import VaultCore

/// The keys of this device in one space: an item of the vault, which a copy of its file on another machine does not open.
package struct DeviceKeys: Sendable {
  private static let service = "space"
  /// The secret has three parts of this length: a seed to sign, one for boxes, and the key of the files of this device.
  private static let seedByteCount = 32
  private static let person = "user.person"
  private static let name = "user.device"

  /// The group of these items. No device shares it.
  package static var group: AccessGroup { SyncPlace.group }

  package let space: Identifier
  package let identity: DeviceIdentity
  /// Seals the state in the files of this device.
  let state: LockedBytes

  private init(_ space: Identifier, _ seeds: borrowing Secret, person: String, name: String) throws {
    guard seeds.count == 3 * Self.seedByteCount else { throw SyncError(.keysMalformed, space.description) }
    let count = Self.seedByteCount
    self.space = space
    identity = try DeviceIdentity(
      signingSeed: seeds.copy(0, count), boxSeed: seeds.copy(count, count), person: person, name: name)
    state = LockedBytes(try seeds.copy(2 * count, count))
  }

  /// New keys. `body` makes what depends on them, before the vault has them: without the item the rest is nothing. They replace keys
  /// that this device cannot open, whose files stay as they are if the vault does not take the new ones. So the vault has the item
  /// before the files have the state: after a crash between the two, `coffer sync leave --force` forgets the keys.
  /// - Returns: The keys, and the files, which have the state.
  /// - Throws: `otherDevice` if the vault has no key of this device; `deviceAlready`; as `Keychain.add`.
  package static func make(
    in keychain: Keychain, files directory: String, person: String, name: String,
    _ body: (DeviceIdentity) throws -> LocalState
  ) throws -> (keys: DeviceKeys, files: StateFiles, state: LocalState) {
    let seeds = try Secret.random(count: 3 * seedByteCount)
    let draft = try DeviceKeys(.zero, seeds, person: person, name: name)
    let state = try body(draft.identity)
    let space = state.replica.space
    let keys = try DeviceKeys(space, seeds, person: person, name: name)
    let files = try StateFiles(keys, in: directory, isMade: true)
    // With the lock: the state that is there is that of the keys in the vault.
    try checkIsNew(space, in: keychain)
    var item = item(of: space)
    item.label = "Keys of this device in a space of coffer sync"
    item[Self.person] = person
    item[Self.name] = name
    func add() throws -> Reference {
      try keychain.add(item, secret: seeds, group: SyncPlace.group, accessible: .whenUnlockedThisDevice)
    }
    let reference: Reference
    do {
      reference = try add()
    } catch KeychainError.Code.duplicate {
      try discard(of: space, from: keychain)
      reference = try add()
    }
    do {
      try files.save(state)
    } catch {
      _ = try? keychain.removeForGood(reference)
      throw error
    }
    return (keys, files, state)
  }

  private static func item(of space: Identifier) -> Item { Item(service: service, account: space.description) }

  /// Removes keys that this device cannot open. As long as the policy of the vault keeps them, they can be restored.
  /// - Throws: `noSpace` if there are none; as `Keychain.remove`.
  package static func discard(of space: Identifier, from keychain: Keychain) throws {
    do {
      try keychain.remove(item(of: space), in: SyncPlace.group)
      try PlaceItem.discard(of: space, from: keychain)
    } catch KeychainError.Code.notFound {
      throw SyncError(.noSpace, space.description)
    }
  }

  /// The spaces of which this vault is a device.
  /// - Throws: as `Keychain.items`.
  package static func spaces(in keychain: Keychain) throws -> [Identifier] {
    try entries(in: keychain).map(\.space)
  }

  /// - Throws: `deviceAlready` if the vault has keys of the space; as `Keychain.items`.
  package static func checkIsNew(_ space: Identifier, in keychain: Keychain) throws {
    guard try !spaces(in: keychain).contains(space) else { throw SyncError(.deviceAlready, space.description) }
  }

  /// The error of a vault without keys of a space.
  /// - Throws: as `Keychain.items`.
  package static func noSpace(in keychain: Keychain, _ space: Identifier? = nil) throws -> SyncError {
    let hasUnavailable =
      try keychain.contains(SyncPlace.group) && keychain.listing(KeychainQuery(group: SyncPlace.group)).unavailableCount > 0
    return SyncError(hasUnavailable ? .keysUnavailable : .noSpace, space?.description ?? "")
  }

  private static func entries(in keychain: Keychain) throws -> [(space: Identifier, entry: Entry)] {
    guard try keychain.contains(SyncPlace.group) else { return [] }
    let listing = try keychain.listing(KeychainQuery(service: service, group: SyncPlace.group))
    // A damaged record elsewhere in the vault holds nothing up.
    if listing.entries.isEmpty, let damage = listing.damaged.first { throw damage }
    return listing.entries.compactMap { entry in
      entry.item["account"].flatMap { Identifier(hexadecimal: $0) }.map { ($0, entry) }
    }
  }

  /// - Parameter space: nil for the only one.
  /// - Throws: `noSpace`, `keysUnavailable`, `severalSpaces`, `keysMalformed`; as `Keychain.secret`.
  package init(of space: Identifier?, in keychain: Keychain) throws {
    let all = try Self.entries(in: keychain).filter { space == nil || $0.space == space }
    guard let (found, entry) = all.first else { throw try Self.noSpace(in: keychain, space) }
    guard all.count == 1 else { throw SyncError(.severalSpaces, all.map(\.space.description).sorted().joined(separator: ", ")) }
    try self.init(
      found, keychain.secret(of: entry.reference), person: entry.item[Self.person] ?? "", name: entry.item[Self.name] ?? "")
  }

  /// Removes the keys from the vault for good, with the versions of the item.
  package func remove(from keychain: Keychain) throws {
    try PlaceItem.remove(of: space, from: keychain)
    for (found, entry) in try Self.entries(in: keychain) where found == space { try keychain.removeForGood(entry.reference) }
  }
}

extension Identifier {
  /// - Returns: nil unless there are 32 digits, the lower ones of hexadecimal numbers.
  package init?(hexadecimal text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 2 * Identifier.byteCount else { return nil }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[start..<start + 2], as: UTF8.self), radix: 16) else { return nil }
      bytes.append(byte)
    }
    self.init(bytes)
    // A number may have a sign.
    guard description.utf8.elementsEqual(digits) else { return nil }
  }
}
