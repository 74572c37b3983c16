import CofferRequests
import VaultCore
import VaultUpkeep

/// Keeps one program from filling the disk, where a vault lies in a directory of the system's. All that lies in the groups which
/// a program may write to counts, also what others have added, former versions by their bytes. The owner is not limited. For one thread.
package struct ProgramQuota {
  package struct Limits: Sendable {
    package var itemCount: Int
    /// As they are sealed, without their keys.
    package var byteCount: Int

    package init(itemCount: Int, byteCount: Int) { (self.itemCount, self.byteCount) = (itemCount, byteCount) }

    /// The limits of a system agent.
    package static let standard = Limits(itemCount: 10_000, byteCount: 64 << 20)
  }

  struct Usage {
    var itemCount = 0
    var byteCount = 0

    /// The attributes of a former version are longer than they were by its marks, which may take another block of padding.
    static let marksByteCount = 4096
  }

  let limits: Limits
  /// As they were counted, and never less than there is while others change nothing: what is removed for good is counted no earlier
  /// than when a program is at its limit.
  private var known: [AccessGroup: Usage] = [:]
  private var generation: UInt64 = 0

  package init(_ limits: Limits) { self.limits = limits }

  /// The effect of a program's request on the counts.
  enum Change {
    case adds(Usage)
    /// An item that is removed is a former version then.
    case removes
    /// Whatever else: all is counted anew.
    case unknown
  }

  /// - Parameter byteCount: The length of the item and its secret, before they are sealed.
  /// - Throws: `quotaExceeded`; integrity errors.
  mutating func check(_ request: borrowing ItemRequest, byteCount: Int, of service: ItemService, in vault: borrowing Vault) throws
    -> Change
  {
    guard let itemCount = try service.addedItemCount(request, in: vault) else {
      return service.removes(request) ? .removes : .unknown
    }
    let added = Usage(itemCount: itemCount, byteCount: byteCount)
    let groups = try service.filledGroups(in: vault)
    if vault.lastGeneration != generation { restart(at: vault.lastGeneration) }
    if try exceeds(added, groups, vault) {
      restart(at: generation)
      guard try !exceeds(added, groups, vault) else {
        throw KeychainError(
          .quotaExceeded, "\(limits.itemCount) items and \(limits.byteCount >> 20) MiB in the groups that it may write to")
      }
    }
    // The size of the version that is restored is not known here.
    guard request.kind != .restore else { return .unknown }
    return .adds(added)
  }

  private mutating func exceeds(_ added: Usage, _ groups: [AccessGroup], _ vault: borrowing Vault) throws -> Bool {
    var sum = Usage()
    for group in groups {
      let usage: Usage
      if let counted = known[group] {
        usage = counted
      } else {
        var damagedCount = 0
        let list = try vault.entries(in: group, damaged: { _ in damagedCount += 1 })
        usage = Usage(
          itemCount: list.entries.count + list.unavailableCount + damagedCount,
          byteCount: try list.byteCount + vault.formerByteCount(in: group))
        known[group] = usage
      }
      sum.itemCount += usage.itemCount
      sum.byteCount += usage.byteCount
    }
    return sum.itemCount + added.itemCount > limits.itemCount || sum.byteCount + added.byteCount > limits.byteCount
  }

  private mutating func restart(at generation: UInt64) { (known, self.generation) = ([:], generation) }

  /// - Parameters:
  ///   - group: To which something was added, or in which it was removed.
  ///   - before: The generation that was seen last before the change.
  ///   - after: The one that came of it. If it is not the next one, another process has changed something in between.
  mutating func follow(_ change: Change, to group: AccessGroup?, from before: UInt64, to after: UInt64) {
    if case .unknown = change { return }
    guard before == generation, after == before + 1 else { return }
    generation = after
    guard let group else { return }
    var itemCount = 1
    if case .adds(let added) = change { itemCount = max(1, added.itemCount) }
    known[group, default: Usage()].byteCount += itemCount * Usage.marksByteCount
    guard case .adds(let added) = change else { return }
    known[group, default: Usage()].itemCount += added.itemCount
    // A field is at most doubled by its padding, but has 128 bytes; with nonces and authenticators.
    known[group, default: Usage()].byteCount += 2 * added.byteCount + itemCount * 512
  }
}
