package import SecretMemory
package import VaultCore

/// Copies items from one vault into another. Both are open in this process.
package struct Transfer: Sendable {
  package private(set) var copied: UInt64 = 0
  package private(set) var replaced: UInt64 = 0
  /// Items that the other vault has already.
  package private(set) var skipped: UInt64 = 0
  /// Items of this device only: they stay on it.
  package private(set) var leftOut: UInt64 = 0

  package init() {}

  /// Copies one item, with its group if that is not there, in a commit of its own.
  /// - Parameter isReplacing: Whether an item of the same name gets the secret and the attributes of the copied one.
  /// - Throws: as `Vault.secret`, `Vault.add` and `Vault.update`.
  package mutating func copy(
    _ entry: Entry, from source: borrowing Vault, into target: inout Vault, isReplacing: Bool, at now: Timestamp
  ) throws {
    guard !entry.accessibility.isThisDeviceOnly else { return leftOut += 1 }
    let group = entry.reference.group
    let hasGroup = try target.contains(group)
    let there = hasGroup ? try target.entry(entry.item, in: group) : nil
    guard there == nil || isReplacing else { return skipped += 1 }
    let secret = try source.secret(of: entry.reference)
    if let there {
      _ = try target.update(there.reference, secret: secret, at: now) { $0 = entry.item }
      replaced += 1
    } else {
      if !hasGroup { try target.createGroup(group, at: now) }
      _ = try target.add(entry.item, secret: secret, to: group, accessible: entry.accessibility, at: now)
      copied += 1
    }
  }
}
