import CLinux
import CofferFiles
import CofferRequests
import CofferStorage
import CofferTesting
import Foundation
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
