internal import AppContainers
package import CofferFiles

/// Each ring has its own files, chain and limit, so that new entries displace only old entries of the same ring.
package enum AuditRing: String, CaseIterable, Sendable {
  /// Unlocking the vault, changes to its key slots, installations, grants, and the owner's answers.
  case decisions
  /// Items that were read or changed by programs with the right to do so.
  case uses
  /// Refusals, and requests that any program may make: a program without any right can fill this ring.
  case refusals

  var limits: AuditLimits {
    var limits = AuditLimits()
    if self == .refusals { limits.segmentCount = 4 }
    return limits
  }
}

/// The writers of all rings.
package final class AuditRings: Sendable {
  private let logs: [AuditRing: AuditLog]

  /// Opens the logs, or creates them.
  /// - Parameter state: The directory for the state of this machine.
  /// - Throws: `FileError`.
  package init(in state: String) throws(FileError) {
    var logs: [AuditRing: AuditLog] = [:]
    for ring in AuditRing.allCases { logs[ring] = try AuditLog(in: state, ring) }
    self.logs = logs
  }

  /// - Throws: As `AuditLog.append`.
  package func append(_ entry: AuditEntry, to ring: AuditRing, isSynced: Bool) throws {
    try logs[ring]?.append(entry, isSynced: isSynced)
  }
}
