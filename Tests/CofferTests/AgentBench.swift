import AccessRights
import CLinux
import CofferAgent
import CofferTesting
import CofferWire
import Foundation
import Synchronization
import SystemBench
import VaultCore

@testable import Coffer

/// How the keychain of a test gets its answers.
enum Transport: String, CaseIterable {
  case inProcess, socket
  /// An agent under a user of its own, asked by programs of another.
  case system

  static let allCases: [Transport] = SystemBench.isPossible ? [.inProcess, .socket, .system] : inThisProcess
  /// The agent finds the app by its program, which is nobody's when its manifest has gone; in this process it is said which app it is.
  var codeOfRemovedApp: KeychainError.Code { self == .system ? .missingEntitlement : .appNotInstalled }

  /// For tests that reach into the vault themselves.
  static let inThisProcess: [Transport] = [.inProcess, .socket]
}

/// A vault in memory whose users take turns: an agent that tells its clients what happens has several threads.
final class TurnStore: Store, @unchecked Sendable {
  private let inner = MemoryStore()
  private let lock = NSLock()

  func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try inner.read(body)
  }

  func commit(_ prepare: (any Rows) throws -> Change) throws {
    lock.lock()
    defer { lock.unlock() }
    try inner.commit(prepare)
  }

  /// Changes a byte of the attributes, or of the secret, of the records that are meant.
  func spoil(secret: Bool = false, where isMeant: (SealedRecord) -> Bool) {
    lock.lock()
    defer { lock.unlock() }
    for (id, row) in inner.records where isMeant(row) {
      let head = row.head
      let attributes = secret ? head.attributes : [head.attributes[0] ^ 1] + head.attributes.dropFirst()
      let column = secret ? [row.secret[0] ^ 1] + row.secret.dropFirst() : row.secret
      inner.records[id] = SealedRecord(
        RecordHead(
          id: id, group: head.group, meta: head.meta, attributes: attributes, secretDigest: head.secretDigest,
          secretCount: column.count), secret: column)
    }
  }
}

/// An agent in this process, on a socket, for whom every client is the same app.
final class AgentBench: Sendable {
  /// The test is the only client, and belongs to no app: who it is, is said here. `AgentTests` has programs that are somebody.
  private struct OneProgram: ProgramDirectory {
    let signed: SignedManifest
    let identity: (@Sendable () -> ProgramIdentity)?
    func identify(_ peer: Peer) -> ProgramIdentity { identity?() ?? .app(signed.manifest.applicationIdentifier) }
    func manifest(of application: String) -> SignedManifest? { signed }
  }

  private let server: AgentServer
  let directory: URL
  private let ended = DispatchSemaphore(value: 0)
  private let logged = Logged()

  /// The entries that the audit log would have.
  private final class Logged: Sendable {
    let entries = Mutex<[(facts: Gate.Facts, decision: Gate.Decision)]>([])
  }
  let vault: AgentVault

  /// - Parameters:
  ///   - directory: The directory of an earlier bench, which this one replaces.
  ///   - identity: Whose program it is, asked each time. Nil: the app's.
  init(
    _ store: TurnStore, _ signed: SignedManifest, in directory: URL? = nil, isUnlocked: Bool = true,
    questions: OwnerQuestions? = nil, identity: (@Sendable () -> ProgramIdentity)? = nil
  ) throws {
    self.directory =
      directory ?? FileManager.default.temporaryDirectory.appending(path: "coffer-agent-\(UUID().uuidString.prefix(8))")
    let directory = self.directory
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    vault = AgentVault(
      at: "memory", inspect: { try Vault.inspect(store) }, open: { _ in try Vault.openThrowAway(store) })
    if isUnlocked { try vault.unlock(.throwAway()) }
    server = try AgentServer(
      at: directory.path + "/agent.sock", lockPath: directory.path + "/agent.lock", vault: vault,
      programs: OneProgram(signed: signed, identity: identity), questions: questions
    ) { [logged] facts, decision, _ in logged.entries.withLock { $0.append((facts, decision)) } }
    Foundation.Thread.detachNewThread { [server, ended] in
      server.run()
      ended.signal()
    }
  }

  var decisions: [(facts: Gate.Facts, decision: Gate.Decision)] { logged.entries.withLock { $0 } }
  var socket: String { directory.path + "/agent.sock" }
  var keychain: Keychain { Keychain(AgentTransport(at: socket)) }

  func connect(_ descriptor: Int32) -> Bool { unsafe coffer_local_name(descriptor, directory.path + "/agent.sock", 0) == 0 }

  deinit {
    server.end()
    ended.wait()
    try? FileManager.default.removeItem(at: directory)
  }
}

extension FrameChannel {
  /// The first request of a connection that needs to be somebody's is challenged. It is not sent again here.
  func introduce() throws {
    try send(Request.items(.contains(.standard)).frame(request: 0))
    guard var frame = try receive(), let message = frame.message.take() else { throw Failure.closed }
    try answer(Challenge(message))
  }
}
