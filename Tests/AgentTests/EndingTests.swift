import AppContainers
import CLinux
import CofferFiles
import CofferRequests
import CofferStorage
import CofferTesting
import Foundation
import Synchronization
import SystemBench
import Testing
import VaultCore

@testable import CofferAgent
@testable import CofferWire

/// How an agent ends, and what does not keep it from that, nor from forgetting the keys.
@Suite(.timeLimit(.minutes(60))) struct EndingTests {
  /// No client could find the socket any more, neither to use the agent nor to lock it.
  @Test(arguments: ["rm run/agent.sock", "mv run away", "mv run/agent.sock run/x", "rm -r run"])
  func anAgentWhoseSocketIsGoneEnds(command: String) throws {
    let bench = try DaemonBench()
    try bench.unlock()
    let shell = bench.command("/bin/sh", ["-c", command])
    try shell.run()
    shell.waitUntilExit()
    try #require(shell.terminationStatus == 0)
    #expect(bench.waitForEnd() == 0)
    // And leaves the vault to the next one.
    try bench.start()
    try bench.unlock()
    #expect(try bench.coffer(["agent", "status"]).output == "unlocked\n")
  }

  /// An event tells of it only if the watch was there first. Here none comes at all: a directory above was renamed.
  @Test func anAgentWhoseSocketHasGoneBeforeItServesEnds() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-gone-\(UUID().uuidString.prefix(8))").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let places = try Places { $0 == "COFFER_HOME" ? "\(directory)/data" : nil }
    _ = try DataDirectory(at: "\(directory)/data")
    try Vault.throwAway(in: FileStore.create(at: places.vault)).close()
    try FileManager.default.createDirectory(
      atPath: "\(directory)/above", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let server = try AgentServer(
      at: "\(directory)/above/run/agent.sock", lockPath: "\(directory)/lock", vault: AgentVault(places),
      programs: Programs(in: DataDirectory(at: "\(directory)/data"), command: nil)
    ) { _, _, _ in }
    try FileManager.default.moveItem(atPath: "\(directory)/above", toPath: "\(directory)/away")
    let ended = DispatchSemaphore(value: 0)
    Foundation.Thread.detachNewThread {
      server.run()
      ended.signal()
    }
    #expect(ended.wait(timeout: .now() + 20) == .success)
    server.end()
  }

  @Test(.enabled(if: geteuid() == 0, "the agent hides from its own user")) func itStaysInNobodysDirectory() throws {
    let bench = try DaemonBench()
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(bench.processNumber)/cwd") == "/")
  }

  /// Something is at work for a client that cannot be interrupted, such as a file system that does not answer.
  @Test func longOperationsDoNotKeepItFromEnding() throws {
    let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    var bench: AgentBench? = try AgentBench(opening: {
      entered.signal()
      release.wait()
    })
    let socket = try #require(bench?.socket)
    let channel = try Self.connected(to: socket)
    try channel.send(try Self.unlock(bench?.vault.inspect().slots.first).frame(request: 1))
    entered.wait()
    // Waits until it has ended.
    bench = nil
    #expect(!FileManager.default.fileExists(atPath: socket))
    let isClosed = try channel.receive() == nil
    #expect(isClosed)
    release.signal()
  }

  /// A disk that is full, or a directory of apps that is none, keeps nobody from having the keys forgotten.
  @Test func toLockTakesNoLogAndNoApps() throws {
    struct Full: Error {}
    let bench = try AgentBench(log: { throw Full() })
    try bench.unlock()
    let apps = bench.directory.path + "/data/Apps"
    try? FileManager.default.removeItem(atPath: apps)
    #expect(FileManager.default.createFile(atPath: apps, contents: nil))
    let channel = try Self.connected(to: bench.socket)
    try channel.send(Request.items(.contains(try AccessGroup("default"))).frame(request: 2))
    let refusal = try channel.receive()?.header.kind
    #expect(refusal == .failed)
    #expect(!bench.vault.status.isLocked)
    try channel.send(Request.session(.lock).frame(request: 3))
    let answer = try channel.receive()?.header.kind
    #expect(answer == .done)
    #expect(bench.vault.status.isLocked)
  }

  /// A vault that was closed can be copied, moved or opened by another agent at once.
  @Test func stopReturnsWhenTheLockIsFree() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-stop-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let places = try Places { $0 == "COFFER_HOME" ? directory : nil }
    try Vault.throwAway(in: FileStore.create(at: places.vault)).close()
    let vault = try AgentVault(places)
    let held = Mutex<AgentServer?>(
      try AgentServer(
        at: places.agentSocket, lockPath: places.agentLock(forVaultAt: vault.path), vault: vault,
        programs: Programs(in: DataDirectory(at: directory), command: nil)
      ) { _, _, _ in })
    let isReleased = Atomic(false)
    let stop = Process()
    stop.executableURL = AgentBench.program("coffer")
    stop.arguments = ["agent", "stop"]
    stop.environment = ["COFFER_HOME": directory]
    try stop.run()
    // Until the request. The lock stays with the server, which lives on in `held`.
    Self.run(held)
    let thread = DetachedThread.start("releases") {
      // As long as a command would take to end if it did not wait.
      usleep(300_000)
      isReleased.store(true, ordering: .releasing)
      held.withLock { $0 = nil }
    }
    try #require(thread)
    stop.waitUntilExit()
    #expect(stop.terminationStatus == 0)
    let wasReleased = isReleased.load(ordering: .acquiring)
    #expect(wasReleased)
  }

  private static func run(_ held: borrowing Mutex<AgentServer?>) { held.withLock { $0 }?.run() }

  /// The owner sees that something which is not a client has connected.
  @Test func bytesThatAreNoRequestAreLoggedOnce() throws {
    let bench = try DaemonBench()
    for frame in [FrameHeader(.done, request: 1, bodyByteCount: 0).bytes, [UInt8](repeating: 0xFF, count: 16)] {
      for _ in 0..<20 {
        let socket = coffer_local_socket()
        try #require(unsafe coffer_local_name(socket, bench.places.agentSocket, 0) == 0)
        unsafe write(socket, frame, frame.count)
        var byte: UInt8 = 0
        #expect(unsafe recv(socket, &byte, 1, 0) <= 0)
        close(socket)
      }
    }
    let log = try bench.coffer(["app", "log"]).output.split(separator: "\n").filter { $0.contains("agent.frame") }
    // Repetitions are counted, whatever the bytes.
    #expect(log.first?.contains("malformed: malformed") == true && log.count < 20, "\(log)")
  }

  /// Repeated requests do not push everything else out of the log.
  @Test func manyLocksAreOneEntry() throws {
    let bench = try DaemonBench()
    let channel = try Self.connected(to: bench.places.agentSocket)
    for number in 0..<200 {
      try channel.send(Request.session(.lock).frame(request: UInt64(number)))
      _ = try channel.receive()
    }
    let log = try bench.coffer(["app", "log"]).output.split(separator: "\n").filter { $0.contains("agent.lock") }
    #expect(!log.isEmpty && log.count < 100, "\(log.count)")
  }

  private static func unlock(_ slot: SlotDescription?) throws -> Request {
    .session(.unlock(try Credential.throwAway().derived(salt: #require(slot).salt, nil, ceiling: .standard)))
  }

  private static func connected(to path: String) throws -> FrameChannel {
    guard let descriptor = OwnedDescriptor(coffer_local_socket()), unsafe coffer_local_name(descriptor.number, path, 0) == 0
    else { throw POSIXError(.ECONNREFUSED) }
    return FrameChannel(descriptor)
  }
}
