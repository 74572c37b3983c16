internal import SystemCalls

/// Writes decisions into the audit log before they are carried out.
///
/// What one process asks again and again, and gets the same answer to, is one entry a second, which says how many more there were: a
/// program in a loop would push everything else out of the log, which has an end. Changes, and whoever opens the vault, have an entry each.
package final class DecisionLog: Sendable {
  /// In milliseconds.
  private static let period: Int64 = 1000
  private static let maximumCount = 256

  private struct Repeated {
    var entry: AuditEntry
    var count = 0
  }

  /// What two decisions have in common that are one entry.
  private struct Key: Hashable {
    let process: Int32
    let operation: String
    let decision: AuditEntry.Decision
    let executable: String
    let application: String
    let group: String
    let reason: String

    init(_ entry: AuditEntry) {
      (process, operation, decision) = (entry.caller.process, entry.operation, entry.decision)
      (executable, application, group, reason) = (entry.caller.executable, entry.application, entry.group, entry.reason)
    }
  }

  private let log: AuditLog
  private let recent = Guarded<[Key: Repeated]>([:])

  package init(_ log: AuditLog) { self.log = log }

  /// - Throws: what cannot be logged is not to be done.
  package func append(_ entry: AuditEntry, isChange: Bool, isSynced: Bool) throws {
    guard !isChange else {
      _ = try log.append(entry, isSynced: isSynced)
      return
    }
    try recent.withLock { recent in
      let key = Key(entry)
      if let known = recent[key], (0..<Self.period).contains(entry.milliseconds - known.entry.milliseconds) {
        recent[key]!.count += 1
        return
      }
      if recent.count >= Self.maximumCount { try flush(&recent) }
      if let known = recent[key] { try note(known) }
      try log.append(entry, isSynced: isSynced)
      recent[key] = Repeated(entry: entry)
    }
  }

  /// Writes what has been counted.
  package func flush() throws { try recent.withLock { try flush(&$0) } }

  private func flush(_ recent: inout [Key: Repeated]) throws {
    defer { recent = [:] }
    for repeated in recent.values { try note(repeated) }
  }

  private func note(_ repeated: Repeated) throws {
    guard repeated.count > 0 else { return }
    var entry = repeated.entry
    entry.reason += "; \(repeated.count) more within a second"
    try log.append(entry, isSynced: false)
  }
}
