import AppContainers
import Apps
import AuditLog
import Glibc
import Storage
import VaultCore

/// What a verb of `coffer app` writes into the audit log: that it is going to do something before it does it, that it refuses, and that
/// it could not do what it had begun.
struct AppAudit {
  enum Verb: String {
    case install, remove, forget, grant, revoke, run

    /// All but `run` change what anybody may do.
    var operation: AuditEntry.Operation { .init("app.\(rawValue)", isSynced: self != .run) }
  }

  private let operation: AuditEntry.Operation
  private let log: AuditLog
  /// In full, when it is known.
  var application = ""
  var group = ""
  /// Who has come, as what opened the vault tells.
  private var who = "owner"

  /// - Throws: where there is no log: nothing is done then.
  init(_ verb: Verb) throws {
    operation = verb.operation
    log = try about("the audit log") { try AuditLog(in: AuditPlace.state()) }
  }

  /// A key file that lies there for programs is not the owner.
  mutating func came(to apps: borrowing OpenApps) { who = apps.isOwner ? "owner" : "key-file" }

  /// Runs what decides whether it is to be done, and logs a refusal.
  func deciding<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      try? append(.refused, Self.reason(of: error))
      throw error
    }
  }

  /// Logs that it is allowed, then does it.
  /// - Parameter reason: Nil stands for who has come.
  /// - Throws: what the log says: nothing is done then.
  func doing<Result: ~Copyable>(because reason: String? = nil, _ body: () throws -> Result) throws -> Result {
    try about("the audit log") { try append(.allowed, reason ?? who) }
    do {
      return try body()
    } catch {
      try? append(.failed, Self.reason(of: error))
      throw error
    }
  }

  private func append(_ decision: AuditEntry.Decision, _ reason: String) throws {
    let entry = AuditEntry(
      at: AuditPlace.now(), decision, operation.name, by: AuditPlace.caller(), application: application, group: group,
      because: reason)
    try log.append(entry, isSynced: operation.isSynced)
  }

  /// The name of the rule.
  private static func reason(of error: any Error) -> String {
    switch error {
    case let error as VaultError: error.code.name
    case let error as StorageError: error.code.name
    case let error as AppsError: error.code.name
    case let error as ContainerError: error.code.name
    case let failure as Failure: "\(failure.status)"
    default: "other"
    }
  }
}

/// Where the log of this user is, and who this process is.
enum AuditPlace {
  static func state() throws -> String { try Places { Environment[$0] }.state }

  static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  static func caller() -> AuditEntry.Caller {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    let executable = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return AuditEntry.Caller(user: getuid(), process: getpid(), executable: executable)
  }
}
