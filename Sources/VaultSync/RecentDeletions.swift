import VaultCore

/// Deletions that were sent a moment ago: many, one after the other, are as many at once.
struct RecentDeletions {
  /// In milliseconds.
  private static let time: Int64 = 600_000

  private var all: [(group: AccessGroup, count: Int, at: Int64)] = []

  subscript(group: AccessGroup) -> Int { all.reduce(0) { $0 + ($1.group == group ? $1.count : 0) } }

  mutating func add(_ count: Int, of group: AccessGroup, at now: Int64) { all.append((group, count, now)) }
  mutating func forget(before now: Int64) { all.removeAll { $0.at + Self.time < now } }
}
