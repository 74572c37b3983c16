import AccessRights
import CLinux
import CofferRequests
import Foundation
import SecretMemory
import Testing

@testable import CofferAgent
@testable import CofferWire

/// Clients that send nonsense, half of something, or nothing. Others are served all the same.
@Suite struct HostileClientTests {
  let bench: AgentBench
  let app: URL

  init() throws {
    bench = try AgentBench()
    try bench.unlock()
    app = try bench.install(AgentBench.program("AgentProbe"), as: "com.example.app")
  }

  private func connected() throws -> Int32 {
    let descriptor = coffer_local_socket()
    try #require(unsafe coffer_local_name(descriptor, bench.socket, 0) == 0)
    return descriptor
  }

  private func send(_ bytes: [UInt8], _ descriptor: Int32) {
    unsafe _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Whether the agent has closed the connection, within five minutes.
  private func isClosed(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, 300_000) == 1 else { return false }
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, 0) <= 0
  }

  private func expectServed() throws { #expect(try bench.run(app, ["once", bench.socket]) == ["done"]) }

  @Test func theFirstMalformedFrameCloses() throws {
    var generator = SystemRandomNumberGenerator()
    let good = FrameHeader(.request(.status), request: 1, bodyByteCount: 6).bytes
    var frames: [[UInt8]] = [
      FrameHeader(.request(.status), request: 1, bodyByteCount: 0).bytes,
      FrameHeader(.done, request: 1, bodyByteCount: 6).bytes + [UInt8](repeating: 0, count: 6),
      [UInt8](repeating: 0xFF, count: 16), Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
      good + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0],
    ]
    for _ in 0..<50 { frames.append((0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }) }
    for frame in frames {
      let descriptor = try connected()
      send(frame, descriptor)
      #expect(isClosed(descriptor), "\(frame.prefix(16))")
      close(descriptor)
    }
    try expectServed()
  }

  @Test func aProcessHasSoManyConnections() throws {
    let all = try (0..<WireLimits.connectionsPerProcess + 8).map { _ in try connected() }
    defer { for descriptor in all { close(descriptor) } }
    let status = try Request.session(.status).frame(request: 1).copyIntoUnprotectedBytes()
    for descriptor in all { send(status, descriptor) }
    var served = 0
    for descriptor in all {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      try #require(unsafe poll(&entry, 1, 60_000) == 1, "the agent has neither answered nor closed within a minute")
      var byte: UInt8 = 0
      if unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 1 { served += 1 }
    }
    #expect(served == WireLimits.connectionsPerProcess)
    // Those of another process are counted apart.
    try expectServed()
  }

  @Test func anAgentThatWasNeverUnlockedSaysSoAtOnce() throws {
    let bench = try AgentBench()
    #expect(try bench.run(app, ["once", bench.socket]) == ["locked"])
    // The agent has not identified the program yet.
    #expect(try bench.run(AgentBench.program("AgentProbe"), ["once", bench.socket]) == ["locked"])
    try bench.unlock()
    try expectServed()
  }

  @Test func aRequestThatCannotBeLoggedIsRefused() throws {
    struct Full: Error {}
    let bench = try AgentBench(log: { throw Full() })
    try bench.unlock()
    let app = try bench.install(AgentBench.program("AgentProbe"), as: "com.example.app")
    #expect(try bench.run(app, ["once", bench.socket]) == ["storage"])
  }

  @Test func twoAgentsNeverServeOneVault() throws {
    #expect(throws: AgentServer.Failure.running) {
      _ = try AgentServer(
        at: bench.directory.path + "/other/agent.sock", lockPath: bench.directory.path + "/agent.lock", vault: bench.vault,
        programs: Programs(in: bench.data, command: nil)
      ) { _, _, _ in }
    }
    try expectServed()
  }

  @Test func theDirectoryOfTheSocketIsTheUsersAlone() throws {
    let open = bench.directory.appending(path: "open")
    try FileManager.default.createDirectory(at: open, withIntermediateDirectories: true)
    unsafe chmod(open.path, 0o755)
    #expect(throws: AgentServer.Failure.openDirectory) {
      _ = try AgentServer(
        at: open.path + "/agent.sock", lockPath: open.path + "/lock", vault: bench.vault,
        programs: Programs(in: bench.data, command: nil)
      ) { _, _, _ in }
    }
    var status = stat()
    #expect(unsafe stat(bench.socket, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }
}
