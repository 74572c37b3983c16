internal import CofferAudit
internal import CofferRequests
internal import Glibc
internal import Synchronization
internal import VaultCore

/// Writes into the audit log what this process does with the items of a vault that it has opened itself.
///
/// It shows the owner what ran without an agent. It keeps nothing out: a process with the credential needs none of this code. So a log that
/// can't be written does not stop the access. Thread-safe.
package final class DirectAccessLog: Sendable {
  private enum State {
    case closed
    case open(DecisionLog)
    case failed
  }

  private let directory: String
  private let application: String
  private let failed: @Sendable (any Error) -> Void
  private let executable: String
  private let state = Mutex(State.closed)

  /// Nothing is opened before the first entry.
  /// - Parameters:
  ///   - state: The directory for what belongs to this machine.
  ///   - application: `TEAM.identifier` of the app in whose name it is done; empty if it is in none's.
  ///   - failed: Told once, if nothing can be written.
  package init(in state: String, application: String = "", failed: @escaping @Sendable (any Error) -> Void = { _ in }) {
    directory = state
    self.application = application
    self.failed = failed
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    executable = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    state.withLock { state in
      if case .open(let log) = state { try? log.flush() }
    }
  }

  /// - Parameter reason: `owner`, or the error that it was refused with.
  func append(
    _ kind: Request.Kind, _ decision: AuditEntry.Decision, _ group: AccessGroup?, _ item: Identifier?,
    because reason: String, isMerged: Bool
  ) {
    let entry = AuditEntry(
      at: DecisionLog.now(), decision, "direct." + kind.name,
      by: .init(user: getuid(), process: getpid(), executable: executable, application: application), application: application,
      group: group?.name ?? "", item: item.map { "\($0)" } ?? "", because: reason
    ).shortened
    state.withLock { state in
      do {
        let log: DecisionLog
        switch state {
        case .failed: return
        case .open(let opened): log = opened
        case .closed: log = try DecisionLog(in: directory)
        }
        state = .open(log)
        try log.append(entry, to: decision == .refused ? .refusals : .uses, isMerged: isMerged, isSynced: false)
      } catch {
        state = .failed
        failed(error)
      }
    }
  }
}
