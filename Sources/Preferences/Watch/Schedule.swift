internal import Synchronization

/// When a domain has to be looked after, in nanoseconds of the clock of `Deadline`; 0 for never. Set by whoever writes, without a lock.
final class Schedule: Sendable {
  /// Until the journal is on the disk.
  private let sync = Atomic<UInt64>(0)
  /// Until the property list is up to date.
  private let export = Atomic<UInt64>(0)
  /// Until what could not be written is tried again.
  private let retry = Atomic<UInt64>(0)

  static let syncDelay: UInt64 = 200_000_000
  static let exportDelay: UInt64 = 2_000_000_000
  static let retryDelay: UInt64 = 1_000_000_000

  /// - Returns: Whether it was not due before.
  @discardableResult func syncIsDue(_ isDue: Bool) -> Bool { Self.set(sync, isDue, Self.syncDelay) }
  /// Again later where it is due already: a property list is written when nothing has happened for a while.
  func exportIsDue(_ isDue: Bool) { export.store(isDue ? Deadline.now() + Self.exportDelay : 0, ordering: .relaxed) }
  @discardableResult func retryIsDue(_ isDue: Bool) -> Bool { Self.set(retry, isDue, Self.retryDelay) }

  var syncTime: UInt64 { sync.load(ordering: .relaxed) }
  var exportTime: UInt64 { export.load(ordering: .relaxed) }
  var retryTime: UInt64 { retry.load(ordering: .relaxed) }
  /// 0 for never.
  var nextTime: UInt64 { [syncTime, exportTime, retryTime].filter { $0 != 0 }.min() ?? 0 }

  private static func set(_ time: borrowing Atomic<UInt64>, _ isDue: Bool, _ delay: UInt64) -> Bool {
    guard isDue else {
      time.store(0, ordering: .relaxed)
      return false
    }
    guard time.load(ordering: .relaxed) == 0 else { return false }
    return time.compareExchange(expected: 0, desired: Deadline.now() + delay, ordering: .relaxed).exchanged
  }
}
