import AccessRights
import CLinux
import CofferFiles
import CofferRequests
import CofferTesting
import Foundation
import SecretMemory
import Synchronization
import Testing
import UnitCredentials
import VaultCore
import VaultUpkeep
import Waiting

@testable import CofferAgent

/// Credentials that the service manager fetches from the agent when it starts a service. A program in Python connects as systemd 252 does: from an
/// abstract address that names the unit and the credential, and with its own direction closed.
@Suite(.enabled(if: geteuid() == 0, "only the superuser can be the service manager")) struct UnitCredentialTests {
  private let bench: AgentBench
  private let server: CredentialServer
  private let map: CredentialMap
  private let log = Log()
  private let socket: String
  private let database: UnitCredential

  final class Log: Sendable {
    struct Full: Error {}
    struct State {
      var rules: [String] = []
      var isFull = false
    }
    let state = Mutex(State())
    func append(_ decision: Gate.Decision) throws {
      try state.withLock { state in
        if state.isFull { throw Full() }
        if case .refuse(_, let rule) = decision { state.rules.append(rule) } else { state.rules.append("allowed") }
      }
    }
    var last: String? { state.withLock { $0.rules.last } }
  }

  init() throws {
    bench = try AgentBench()
    map = CredentialMap(at: bench.directory.path + "/services")
    database = try UnitCredential(unit: "web.service", name: "db")
    socket = bench.directory.path + "/credentials.sock"
    let log = log
    let made = CredentialServer(
      Self.listener(at: socket), vault: bench.vault, map: map, log: { _, decision, _ in try log.append(decision) })
    server = try #require(made)
    #expect(server.start())
    var vault = try bench.openVault()
    var item = Item(.genericPassword)
    item["service"] = "db.example"
    item["account"] = "ada"
    _ = try vault.transaction { try $0.add(item, secret: Secret(testing: Array("hunter2".utf8)), to: .standard, at: .test) }
    try map.set(CredentialSource(.standard, service: "db.example", account: "ada"), for: database)
  }

  private static func listener(at path: String) -> Int32 {
    let descriptor = coffer_local_socket()
    #expect(unsafe coffer_local_name(descriptor, path, 1) == 0 && listen(descriptor, 128) == 0)
    return descriptor
  }

  private func grant(_ rights: Entitlements.Rights = .read, asks: Bool = false) throws {
    var vault = try bench.openVault()
    try vault.transaction {
      try $0.put(Grant(to: "unit:web.service", .standard, rights, asksForConfirmation: asks, at: .test))
    }
  }

  /// Prints what the service would get, or that systemd refuses it: more than 1 MiB.
  private static let fetch = """
    import os, socket, sys
    path, address = sys.argv[1:3]
    if len(sys.argv) > 3: os.setresuid(int(sys.argv[3]), int(sys.argv[3]), int(sys.argv[3]))
    s = socket.socket(socket.AF_UNIX)
    if address: s.bind(b'\\0' + os.urandom(8).hex().encode() + address.encode())
    s.connect(path)
    s.shutdown(socket.SHUT_WR)
    print('connected', flush=True)
    data = b''
    while len(data) <= 1 << 20:
        part = s.recv(1 << 16)
        if not part: break
        data += part
    print('refused' if len(data) > 1 << 20 else data.decode())
    """

  private func fetched(
    _ address: String = "/unit/web.service/db", as user: [String] = [], once then: () throws -> Void = {}
  ) throws -> String? {
    let lines = try bench.run(
      URL(filePath: "/usr/bin/python3"), ["-c", Self.fetch, socket, address] + user, afterLines: 1, then: then)
    return lines.dropFirst().first
  }

  @Test func aServiceWithTheGrantGetsItsSecret() throws {
    try bench.unlock()
    #expect(try fetched() == "refused")
    #expect(log.last?.contains("nothing was granted to unit:web.service") == true)
    try grant()
    #expect(try fetched() == "hunter2")
    #expect(log.last == "allowed")
  }

  @Test func whatIsNotItsOwnIsRefused() throws {
    try bench.unlock()
    try grant()
    for address in [
      "/unit/other.service/db", "/unit/web.service/other", "/unit/web.service/../other", "/unit/web.service", "/x/y/z", "",
    ] {
      #expect(try fetched(address) == "refused", "\(address)")
    }
  }

  @Test func rightsAreThoseOfTheGrant() throws {
    try bench.unlock()
    try grant(.list)
    #expect(try fetched() == "refused")
    // There is nobody to ask.
    try grant(asks: true)
    #expect(try fetched() == "refused")
    try grant()
    #expect(try fetched() == "hunter2")
  }

  @Test func onlyTheServiceManagerIsServed() throws {
    try bench.unlock()
    try grant()
    for path in [bench.directory.path] { #expect(unsafe chmod(path, 0o711) == 0) }
    #expect(unsafe chmod(socket, 0o666) == 0)
    #expect(try fetched(as: ["54321"]) == "refused")
    #expect(log.last == "not the service manager")
    // The superuser of a user namespace is somebody else outside of it.
    let options = ["--user", "--map-root-user", "/usr/bin/python3", "-c", Self.fetch, socket, "/unit/web.service/db"]
    #expect(try bench.run(URL(filePath: "/usr/bin/unshare"), options).last == "refused")
    #expect(try fetched() == "hunter2")
  }

  @Test func aLockedVaultIsWaitedFor() throws {
    try grant()
    #expect(try fetched(once: { try bench.unlock() }) == "hunter2")
    bench.vault.lock()
    #expect(try fetched(once: { try bench.unlock() }) == "hunter2")
  }

  /// Another process gives the vault new keys, which this agent has not noticed when the service starts.
  private func renewKeys() throws {
    var vault = try bench.openVault()
    var renewal = try MasterKeyRenewal(of: vault.status())
    try renewal.seal(vault.openedSlot, under: .throwAway(), kdf: .floor)
    try renewal.commit(to: &vault, replacing: [])
  }

  @Test func newKeysAreWaitedForAsALock() throws {
    try bench.unlock()
    try grant()
    #expect(try fetched() == "hunter2")
    try renewKeys()
    let answer = try fetched(once: {
      try wait(for: "the connection is accepted") { server.connectionCount == 1 }
      try wait(for: "the lock") { bench.vault.status.isLocked }
      try bench.unlock()
    })
    #expect(answer == "hunter2")
  }

  @Test func anAgentThatOpensItselfServesWithNewKeys() throws {
    let vault = bench.vault
    try bench.unlock()
    vault.reopen { _ = try? vault.unlock(.throwAway()) }
    try grant()
    try renewKeys()
    #expect(try fetched() == "hunter2")
    #expect(!vault.status.isLocked && vault.lockCount == 1)
    vault.lock()
    #expect(vault.statusOfNow.isLocked)
  }

  @Test func theEndOfTheAgentIsARefusal() throws {
    try grant()
    let answer = try fetched(once: {
      try wait(for: "the connection is accepted") { server.connectionCount == 1 }
      server.end()
    })
    #expect(answer == "refused")
  }

  @Test func whatIsNotLoggedIsNotDone() throws {
    try bench.unlock()
    try grant()
    log.state.withLock { $0.isFull = true }
    #expect(try fetched() == "refused")
    log.state.withLock { $0.isFull = false }
    #expect(try fetched() == "hunter2")
  }

  @Test func aMapThatOthersCanWriteIsRefused() throws {
    try bench.unlock()
    try grant()
    let file = bench.directory.path + "/services/web.service/db"
    for path in [file, bench.directory.path + "/services/web.service", bench.directory.path + "/services"] {
      let mode: mode_t = path == file ? 0o644 : 0o755
      #expect(unsafe chmod(path, mode | 0o020) == 0)
      #expect(try fetched() == "refused", "\(path)")
      #expect(unsafe chmod(path, mode) == 0)
      #expect(unsafe chown(path, 54321, 0) == 0)
      #expect(try fetched() == "refused", "\(path)")
      #expect(unsafe chown(path, 0, 0) == 0)
    }
    #expect(try fetched() == "hunter2")
    for text in [
      "", "group=default\n", "group=default\nservice=a\naccount=b\nmore=c\n", "group=default\nservice=db.example\naccount=ada",
    ] {
      try Data(text.utf8).write(to: URL(filePath: file))
      #expect(try fetched() == "refused", "\(text)")
    }
    // Several items of the service may fit, and the map names no account.
    try map.set(CredentialSource(.standard, service: "db.example", account: nil), for: database)
    #expect(try fetched() == "refused")
    try grant([.read, .list])
    #expect(try fetched() == "hunter2")
  }

  @Test func namesHaveTheFormThatSystemdTakes() throws {
    #expect(throws: UnitCredential.Malformed.unit) { try UnitCredential(unit: "web.socket", name: "db") }
    #expect(throws: UnitCredential.Malformed.unit) { try UnitCredential(unit: "web@.service", name: "db") }
    for name in ["", ".hidden", "a/b", "a:b", "a b", "%i", "ä", String(repeating: "x", count: 256)] {
      #expect(throws: UnitCredential.Malformed.name) { try UnitCredential(unit: "web.service", name: name) }
    }
    // NUL, 16 digits, "/unit/", the unit, "/", the name.
    let longest = 107 - 1 - 16 - 6 - "web.service".count - 1
    _ = try UnitCredential(unit: "web.service", name: String(repeating: "x", count: longest))
    #expect(throws: UnitCredential.Malformed.tooLong(limit: 83)) {
      try UnitCredential(unit: "web.service", name: String(repeating: "x", count: longest + 1))
    }
    #expect(
      UnitCredential(address: Array("\0ab12/unit/web@1.service/db".utf8))
        == (try UnitCredential(unit: "web@1.service", name: "db")))
    for address in [
      "ab/unit/web.service/db", "\0/unit/web.service/db", "\0AB/unit/web.service/db", "\0ab/unit/web.service/a/b",
      "\0ab/unit//db",
    ] {
      #expect(UnitCredential(address: Array(address.utf8)) == nil, "\(address)")
    }
  }
}
