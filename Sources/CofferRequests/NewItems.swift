package import SecretMemory
package import VaultCore

/// Items that are added in one commit, with their secrets one behind the other.
package final class NewItems: Sendable {
  /// The most that one request carries.
  package static let maximumCount = 2048
  /// In bytes of attributes and secrets, of those that are put into one request. A commit writes much of the tree and of the pages with
  /// items anew, however few it adds: as many go into one as a frame holds.
  package static let aimByteCount = 480 << 10

  package let items: [Item]
  package let byteCounts: [Int]
  package let secrets: Secret

  /// Returns nil if there is no item, or too many, or if the secrets have not as many bytes in all.
  /// - Parameters:
  ///   - items: The attributes of each.
  ///   - byteCounts: The length of the secret of each.
  ///   - secrets: The secrets, in the same order.
  package init?(_ items: [Item], _ byteCounts: [Int], secrets: consuming Secret) {
    guard (1...Self.maximumCount).contains(items.count), byteCounts.count == items.count,
      byteCounts.allSatisfy({ (0...secrets.count).contains($0) }), byteCounts.reduce(0, +) == secrets.count
    else { return nil }
    (self.items, self.byteCounts) = (items, byteCounts)
    self.secrets = secrets
  }
}
