import AppContainers
import Coffer
import CofferApps
import CofferAudit
import CofferConsole
import CofferFiles
import CofferStorage
import Glibc
import SecretMemory

/// Writes the entries of a verb of `coffer app` or `coffer group` into the audit log: before it acts, when it refuses, and if it fails
/// after it has begun.
struct AppAudit {
  enum Verb: String {
    case install = "app.install"
    case remove = "app.remove"
    case forget = "app.forget"
    case grant = "app.grant"
    case revoke = "app.revoke"
    case run = "app.run"
    case createGroup = "group.create"
    case renameGroup = "group.rename"
    case removeGroup = "group.rm"

    /// All but `run` change what anybody may do.
    var isSynced: Bool { self != .run }
  }

  private let verb: Verb
  private let log: AuditRings
  /// In full, when it is known.
  var application = ""
  var group = ""
  /// The requester, derived from the credential that opened the vault.
  private var who = "owner"

  /// - Throws: If there is no log; then nothing is done.
  init(_ verb: Verb) throws {
    self.verb = verb
    log = try about("the audit log") { try AuditRings(in: AuditPlace.state()) }
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

  /// Runs a body that decides and acts in one step. It calls its argument when nothing but the commit is left, which logs that it is
  /// allowed: an error before that is a refusal, and a later one a failure.
  /// - Parameter note: The part of the deed that the verb and the group leave out.
  func decidingAndDoing(_ note: String, _ body: (_ allowed: () throws -> Void) throws -> Void) throws {
    var isAllowed = false
    do {
      try body {
        try about("the audit log") { try append(.allowed, note.isEmpty ? who : "\(who), \(note)") }
        isAllowed = true
      }
    } catch {
      try? append(isAllowed ? .failed : .refused, Self.reason(of: error))
      throw error
    }
  }

  private func append(_ decision: AuditEntry.Decision, _ reason: String) throws {
    let entry = AuditEntry(
      at: DecisionLog.now(), decision, verb.rawValue, by: AuditPlace.caller(), application: application, group: group,
      because: reason)
    let ring: AuditRing = decision == .refused ? .refusals : verb == .run ? .uses : .decisions
    try log.append(entry, to: ring, isSynced: verb.isSynced)
  }

  /// The name of the rule.
  private static func reason(of error: any Error) -> String {
    switch error {
    case let error as VaultError: error.code.name
    case let error as StorageError: error.code.name
    case let error as AppsError: error.code.name
    case let error as FileError: error.code.name
    case let error as KeychainError: "\(error.code)"
    case let failure as Failure: "\(failure.status)"
    default: "other"
    }
  }
}

/// Where the log of this user is, and who this process is.
enum AuditPlace {
  /// The evidence that there was a log: an agent opens it before it takes its lock, and an app is installed after it was logged.
  /// - Returns: nil if there is no evidence.
  static func witness(in state: String) throws -> String? {
    let files = try OpenDirectory.root(state, isMade: false)?.names().map { "\($0)" } ?? []
    if files.contains(where: { $0.hasPrefix("agent-") && $0.hasSuffix(".lock") }) { return "an agent has run, which keeps one" }
    let apps = try OpenDirectory.root(Path.join(AppPlace.user().data, "Apps"), isMade: false)?.names() ?? []
    return apps.isEmpty ? nil : "apps are installed, which is logged"
  }

  /// The user's own log; nil if there is none.
  static func history() throws -> AuditHistory? { try about("the audit log") { try AuditHistory(of: state()) } }

  static func state() throws -> String { try Places { Environment[$0] }.state }

  static func caller() -> AuditEntry.Caller {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    let executable = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return AuditEntry.Caller(user: getuid(), process: getpid(), executable: executable)
  }
}
