internal import AppContainers
internal import CLinux
internal import CofferFiles
internal import Glibc

/// Writes decisions into the audit log before they are carried out.
///
/// Repeated requests of one process with the same result are merged: one entry per second, followed by the number of the others.
/// Refusals of one process are merged even for different requests. `AuditRing` lists the rings. Thread-safe.
package final class DecisionLog: Sendable {
  private let rings: [AuditRing: Ring]

  /// A ring with a lock of its own.
  private final class Ring: @unchecked Sendable {
    private let lock = ThreadLock()
    private var ring: MergedRing
    init(_ ring: MergedRing) { self.ring = ring }
    func withLock(_ body: (inout MergedRing) throws -> Void) throws { try lock.withLock { try body(&ring) } }
  }

  /// - Parameter state: The directory for the state of this machine.
  /// - Throws: As `AuditLog`.
  package init(in state: String) throws {
    var rings: [AuditRing: Ring] = [:]
    for ring in AuditRing.allCases { rings[ring] = Ring(try MergedRing(in: state, ring, at: Self.now())) }
    self.rings = rings
  }

  /// - Parameter isMerged: Whether the entry may be counted instead of written, if an equal one was written recently.
  /// - Throws: As `AuditLog.append`. The operation must not be performed then.
  package func append(_ entry: AuditEntry, to ring: AuditRing, isMerged: Bool, isSynced: Bool) throws {
    try rings[ring]?.withLock { try $0.append(entry, isMerged: isMerged, isSynced: isSynced) }
  }

  /// Writes the counts.
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
