package import AppContainers

/// Entries of one ring displace the oldest ones of the same ring, and none of another: each has files, a chain and a limit of its own.
package enum AuditRing: String, CaseIterable, Sendable {
  /// Who unlocked the vault or changed a way into it, what was installed and granted, and what the owner answered.
  case decisions
  /// Items that were read or changed by programs with the right to do so.
  case uses
  /// What was refused, and what any program may ask for: a program without any right can fill this one.
  case refusals

  var limits: AuditLimits {
    var limits = AuditLimits()
    if self == .refusals { limits.segmentCount = 4 }
    return limits
  }
}

/// The writing end of all rings.
package final class AuditRings: Sendable {
  private let logs: [AuditRing: AuditLog]

  /// Made if there is none.
  /// - Parameter state: The directory for what belongs to this machine.
  /// - Throws: `ContainerError`.
  package init(in state: String) throws(ContainerError) {
    var logs: [AuditRing: AuditLog] = [:]
    for ring in AuditRing.allCases { logs[ring] = try AuditLog(in: state, ring) }
    self.logs = logs
  }

  /// - Throws: as `AuditLog.append`.
  package func append(_ entry: AuditEntry, to ring: AuditRing, isSynced: Bool) throws {
    try logs[ring]?.append(entry, isSynced: isSynced)
  }
}
