internal import CofferFiles
internal import Synchronization

/// The times at which a domain has something to do, in nanoseconds of the clock of `Deadline`; 0 for never. Writers set them
/// without a lock.
final class Schedule: Sendable {
  /// When the journal has to be on the disk.
  private let sync = Atomic<UInt64>(0)
  /// When the property list has to be exported.
  private let export = Atomic<UInt64>(0)
  /// When writing values that could not be written is tried again.
  private let retry = Atomic<UInt64>(0)

  static let syncDelay: UInt64 = 200_000_000
  static let exportDelay: UInt64 = 2_000_000_000
  static let retryDelay: UInt64 = 1_000_000_000

  /// - Returns: Whether it has become due by this call.
  @discardableResult func syncIsDue(_ isDue: Bool) -> Bool { Self.set(sync, isDue, Self.syncDelay) }
  /// Postponed at each call: a property list is exported after 2 s without changes.
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
