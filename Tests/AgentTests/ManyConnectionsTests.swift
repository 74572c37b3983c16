import CofferStorage
import CofferWire
import Foundation
import SystemBench
import Testing
import Waiting

/// As many connections as there may be, from many processes: all are served, and nothing of them stays.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ManyConnectionsTests {
  /// The memory of an open connection at most, in KiB: the used part of its thread's stack, and its buffers.
  static let residentPerConnection = 64
  /// The memory that may remain after all of them, in KiB: free blocks that the allocator keeps.
  static let residentAfterwards = 24 << 10

  /// A process that holds connections until it is let go.
  final class Holder {
    let answered: Int
    private let process: Process
    private let input = Pipe()

    init(_ bench: DaemonBench, _ count: Int, _ what: String = "hold", _ words: [String] = []) throws {
      process = bench.command(AgentBench.program("AgentProbe").path, [what, bench.places.agentSocket, "\(count)"] + words)
      let output = Pipe()
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      var line = Data()
      while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data([0x0A]) { line += byte }
      answered = Int(String(decoding: line, as: UTF8.self)) ?? 0
    }

    deinit {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }

  private func expectServed(_ bench: DaemonBench) throws {
    // 124 where that takes longer than it may.
    #expect(try bench.coffer(["secret", "list"]).status == 0)
  }

  private func waitForThreads(_ count: Int, _ bench: DaemonBench) throws {
    try wait(for: "the agent has at most \(count) threads") { try bench.usage().threads <= count }
  }

  /// Also where the system gives a program 1,024 descriptors, and more if it asks: a connection takes two.
  @Test func allAreServed() throws {
    let bench = try DaemonBench(limits: "ulimit -Sn 1024")
    try bench.unlock()
    try expectServed(bench)
    try waitForThreads(3, bench)
    let before = try bench.usage()
    let count = WireLimits.connections / WireLimits.connectionsPerProcess
    var holders: [Holder] = []
    for _ in 1..<count { holders.append(try Holder(bench, WireLimits.connectionsPerProcess)) }
    try expectServed(bench)
    holders.append(try Holder(bench, WireLimits.connectionsPerProcess))
    #expect(holders.map(\.answered) == [Int](repeating: WireLimits.connectionsPerProcess, count: count))
    let full = try bench.usage()
    // The thread that folds the log in may have ended.
    #expect((before.threads + WireLimits.connections - 1...before.threads + WireLimits.connections).contains(full.threads))
    #expect(full.resident - before.resident < WireLimits.connections * Self.residentPerConnection, "\(full) after \(before)")
    // One more is closed at once; the next one has room.
    #expect(try Holder(bench, 1).answered == 0)
    holders.removeLast()
    try waitForThreads(before.threads + WireLimits.connections - WireLimits.connectionsPerProcess, bench)
    try expectServed(bench)
    holders.removeAll()
    // Not threads alone: the one that folds the log in may have been among those before, and have ended since.
    try wait(for: "the agent has the threads and descriptors of \(before)") {
      let now = try bench.usage()
      return now.threads <= before.threads && now.descriptors <= before.descriptors
    }
    let after = try bench.usage()
    #expect(after.resident - before.resident < Self.residentAfterwards, "\(after) after \(before)")
    try expectServed(bench)
    print("agent: \(WireLimits.connections) connections: \(before), then \(full), then \(after)")
  }
}
