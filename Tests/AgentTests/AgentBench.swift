import AccessRights
import AppContainers
import CofferApps
import CofferFiles
import CofferRequests
import CofferStorage
import CofferTesting
import CofferWire
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import CofferAgent

/// An agent on a real vault, with real apps, in this process; its clients are other processes.
final class AgentBench: Sendable {
  let directory: URL
  let data: DataDirectory
  let vault: AgentVault
  private let server: AgentServer
  private let ended = DispatchSemaphore(value: 0)
  private let logged = Logged()

  /// The decisions of the gate.
  final class Logged: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [(Gate.Facts, Gate.Decision)] = []
    func append(_ facts: Gate.Facts, _ decision: Gate.Decision) { lock.withLock { all.append((facts, decision)) } }
    var entries: [(Gate.Facts, Gate.Decision)] { lock.withLock { all } }
  }

  private struct Delayed: ProgramDirectory {
    let programs: any ProgramDirectory
    let identifying: @Sendable () throws -> Void

    func identify(_ peer: Peer) throws -> ProgramIdentity {
      try identifying()
      return try programs.identify(peer)
    }
    func manifest(of application: String) throws -> SignedManifest? { try programs.manifest(of: application) }
  }

  /// One that was built beside the tests.
  static func program(_ name: String) -> URL {
    let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appending(path: name)
  }

  /// - Parameters:
  ///   - programs: Identifies clients. If nil, the agent does, by the installed apps.
  ///   - identifying: Called before each look at a client.
  ///   - opening: Called while a credential is tried.
  init(
    frameMilliseconds: Int32 = WireLimits.frameMilliseconds, pinning: Peer.Pinning = .automatic,
    programs: (any ProgramDirectory)? = nil, identifying: @escaping @Sendable () throws -> Void = {},
    log: @escaping @Sendable () throws -> Void = {}, opening: (@Sendable () -> Void)? = nil
  ) throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "coffer-agent-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    data = try DataDirectory(at: directory.path + "/data")
    let path = directory.path + "/data/vault.coffer"
    _ = try Vault.create(in: FileStore.create(at: path), with: .throwAway(), at: .test)
    let environment = ["COFFER_HOME": directory.path + "/data"]
    if let opening {
      let inspect: @Sendable () throws -> VaultStatus = { try Vault.inspect(FileStore(at: path)) }
      vault = AgentVault(at: path, inspect: inspect) { credential in
        opening()
        return try Vault.open(FileStore(at: path), with: credential)
      }
    } else {
      vault = try AgentVault(Places { environment[$0] }, at: path)
    }
    let logged = logged
    server = try AgentServer(
      at: directory.path + "/run/agent.sock", lockPath: directory.path + "/agent.lock", vault: vault,
      programs: Delayed(
        programs: programs
          ?? Programs(
            in: data, command: directory.path + "/command",
            own: { [path = directory.path] in ["\(path)/\($0.rawValue)"] }), identifying: identifying),
      frameMilliseconds: frameMilliseconds,
      pinning: pinning
    ) { facts, decision, _ in
      try log()
      logged.append(facts, decision)
    }
    Foundation.Thread.detachNewThread { [server, ended] in
      server.run()
      ended.signal()
    }
  }

  deinit {
    server.end()
    ended.wait()
    // Else it makes the directory of its anchor again.
    vault.end()
    try? FileManager.default.removeItem(at: directory)
  }

  var socket: String { directory.path + "/run/agent.sock" }
  var decisions: [(Gate.Facts, Gate.Decision)] { logged.entries }

  func unlock() throws { try vault.unlock(.throwAway()) }

  /// As another process of the user's opens it.
  func openVault() throws -> Vault {
    let anchors = Places(in: directory.path + "/data").anchors(forVaultAt: vault.path)
    return try Vault.open(FileStore(at: vault.path), with: .throwAway(), anchor: anchors)
  }

  /// Installs a program as an app of the team that the seed makes.
  /// - Returns: The installed executable.
  @discardableResult
  func install(_ program: URL, as identifier: String, seed: UInt8 = 1) throws -> URL {
    let source = directory.appending(path: "source-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: source.appending(path: "bin"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: program, to: source.appending(path: "bin/program"))
    let manifest = """
      { Identifier = "\(identifier)"; DisplayName = X; Version = 1; Executables = ( { Path = "bin/program"; } );
        "keychain-access-groups" = ( "$(TEAM).shared" ); }
      """
    let key = try TeamSigningKey(seed: Secret(testing: [UInt8](repeating: seed, count: 32)))
    let directory = try OpenDirectory.foreign(source.path)
    let signed = try SignedManifestFile.sign(ManifestFile(Array(manifest.utf8)), executablesIn: directory, with: key)
    var vault = try openVault()
    let apps = try InstalledApps(in: data)
    try apps.install(SignedManifestFile.write(signed), from: directory, in: &vault, at: .test)
    return URL(filePath: "\(data.root.path)/Apps/\(signed.manifest.applicationIdentifier)/bin/program")
  }

  /// Has the vault remember another version of an app than lies there; nil: that it was removed.
  func pin(_ program: URL, version: UInt64?) throws {
    let directory = program.deletingLastPathComponent().deletingLastPathComponent()
    var vault = try openVault()
    guard let version else {
      return try vault.transaction { try $0.markRemoved(directory.lastPathComponent, at: .test) }
    }
    let signed = try ProgramOfApp.manifest(inDirectory: .foreign(directory.path), named: directory.lastPathComponent)
    let manifest = signed.manifest
    let other = try Manifest(
      team: manifest.team, identifier: manifest.identifier, displayName: manifest.displayName, version: version,
      executables: manifest.executables, keychainAccessGroups: manifest.keychainAccessGroups)
    let key = try TeamSigningKey(seed: Secret(testing: [UInt8](repeating: 1, count: 32)))
    _ = try vault.transaction { try $0.install(SignedManifest(signing: other, with: key), at: .test) }
  }

  /// Runs a program to its end. Its output, a line each.
  /// - Parameters:
  ///   - count: After so many lines of it `then` is called.
  func run(
    _ program: URL, _ arguments: [String], environment: [String: String] = [:], afterLines count: Int = 0,
    then: () throws -> Void = {}
  ) throws -> [String] {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = Data()
    while text.count(where: { $0 == 0x0A }) < count, let more = try output.fileHandleForReading.read(upToCount: 1) {
      text += more
    }
    try then()
    text += try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// One that gets a connection on which somebody else has begun to watch.
enum PythonWatcher {
  static let script = """
    import socket, struct
    s = socket.socket(fileno=3)
    print('here', flush=True)
    head = s.recv(16, socket.MSG_WAITALL)
    if len(head) < 16: print('closed')
    else:
        count, version, operation, request = struct.unpack('<IHHQ', head)
        answer = s.recv(count, socket.MSG_WAITALL)
        print({130: 'failed', 131: 'notices'}.get(operation, operation), 'missingEntitlement' if b'missingEntitlement' in answer else '')
        print('closed' if not s.recv(1) else 'more')
    """
}

/// A client in Python, which gets the connection as descriptor 3, asks for its items and says how that went.
enum PythonClient {
  static let script = """
    import os, socket, struct, sys, time
    time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0)
    s = socket.socket(fileno=3)
    body = struct.pack('<IHI', 0, 1, 0)
    try:
        s.sendall(struct.pack('<IHHQ', len(body), 1, 5, 7) + body)
        head = s.recv(16, socket.MSG_WAITALL)
        if len(head) < 16: print('closed')
        else:
            count, version, operation, request = struct.unpack('<IHHQ', head)
            answer = s.recv(count, socket.MSG_WAITALL)
            print({128: 'done', 130: 'failed'}.get(operation, operation), 'missingEntitlement' if b'missingEntitlement' in answer else '')
    except OSError as error: print('closed')
    """

  static func write(in directory: URL) throws -> [String] {
    let file = directory.appending(path: "client.py")
    try script.write(to: file, atomically: false, encoding: .utf8)
    return ["/usr/bin/python3", file.path]
  }
}
