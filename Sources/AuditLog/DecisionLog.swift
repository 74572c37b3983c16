internal import AppContainers
internal import CLinux
internal import Glibc
internal import SystemCalls

/// Writes decisions into the audit log before they are carried out.
///
/// One process that asks the same again and again, and gets the same answer, has one entry a second, which is followed by the number of the
/// others. Refusals of one process are merged whatever it asked for. See `AuditRing` for what displaces what. Thread-safe.
package final class DecisionLog: Sendable {
  private let rings: [AuditRing: Ring]

  /// Each has its own lock.
  private final class Ring: @unchecked Sendable {
    private let lock = ThreadLock()
    private var ring: MergedRing
    init(_ ring: MergedRing) { self.ring = ring }
    func withLock(_ body: (inout MergedRing) throws -> Void) throws { try lock.withLock { try body(&ring) } }
  }

  /// - Parameter state: The directory for what belongs to this machine.
  /// - Throws: as `AuditLog`.
  package init(in state: String) throws {
    var rings: [AuditRing: Ring] = [:]
    for ring in AuditRing.allCases { rings[ring] = Ring(try MergedRing(in: state, ring, at: Self.now())) }
    self.rings = rings
  }

  /// - Parameter isMerged: Whether it may be counted instead, if the same was written a moment ago.
  /// - Throws: as `AuditLog.append`: what can't be logged is not to be done.
  package func append(_ entry: AuditEntry, to ring: AuditRing, isMerged: Bool, isSynced: Bool) throws {
    try rings[ring]?.withLock { try $0.append(entry, isMerged: isMerged, isSynced: isSynced) }
  }

  /// Writes what has been counted.
  package func flush() throws {
    let now = Self.now()
    for ring in AuditRing.allCases { try rings[ring]?.withLock { try $0.flush(at: now) } }
  }

  /// Milliseconds since 1970.
  package static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
