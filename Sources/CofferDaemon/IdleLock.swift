import CLinux
import CofferAgent
import CofferAudit
import CofferFiles
import CofferRequests
import Glibc

/// Signals that end the agent: blocked in all threads, and waited for in one.
struct SignalsToEnd: @unchecked Sendable {
  private var set = sigset_t()

  static func block() -> SignalsToEnd {
    var signals = SignalsToEnd()
    unsafe sigemptyset(&signals.set)
    for signal in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&signals.set, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals.set, nil)
    return signals
  }

  /// Whether one came within so many milliseconds.
  func wait(_ milliseconds: Int64) -> Bool {
    var time = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    var set = set
    return unsafe sigtimedwait(&set, nil, &time) > 0
  }
}

/// Locks the vault after a time without use, and ends the agent on a signal, or if the vault or the socket was removed.
struct IdleLock: Sendable {
  let server: AgentServer
  let vault: AgentVault
  private let log: DecisionLog
  /// A file; when it is gone, so is the agent.
  let watched: String?
  /// In milliseconds; nil: never.
  let idle: Int64?
  /// Whether the agent was started with this time.
  let isChosen: Bool
  private let signals: SignalsToEnd

  /// How often it looks whether there still is a vault, and whether others have changed it.
  private static let longestWait: Int64 = 60_000

  /// - Parameter minutes: 0: never; nil: the standard.
  init(_ service: Service, idle minutes: Int?, _ signals: SignalsToEnd) {
    server = service.server
    vault = service.vault
    log = service.log
    watched = service.watched
    let time = minutes ?? Int(AgentVault.standardIdleMinutes)
    idle = time == 0 ? nil : Int64(time) * 60_000
    isChosen = minutes != nil
    self.signals = signals
  }

  func start() {
    let isStarted = DetachedThread.start("coffer-guardian") {
      var purge = DailyPurge()
      while !signals.wait(min(vault.lock(unusedFor: idle, isChosen: isChosen) ?? Self.longestWait, Self.longestWait)) {
        guard server.hasSocket else { break }
        if let watched { guard unsafe access(watched, F_OK) == 0 else { break } }
        vault.look()
        purge.run(in: vault, atSecond: Int64(time(nil))) { try? log.appendFailedPurge($0) }
        // Writes the counts within a minute. If that fails, the count stays in its file.
        try? log.flush()
      }
      server.end()
    }
    if !isStarted { server.end() }
  }
}

extension DecisionLog {
  fileprivate func appendFailedPurge(_ fault: KeychainError) throws {
    let caller = AuditEntry.Caller(user: geteuid(), process: getpid(), executable: "cofferd")
    try append(
      AuditEntry(at: Self.now(), .failed, "agent.purgeExpired", by: caller, because: "\(fault)").shortened, to: .uses,
      isMerged: false, isSynced: false)
  }
}
