import CLinux
import Foundation
import SystemCalls
import Testing

@testable import Agent

/// What the kernel says of the other end, while it runs and afterwards.
@Suite(.timeLimit(.minutes(60))) struct PeerTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-peer-\(UUID().uuidString.prefix(8))")

  /// A process that has connected, and what is known of it.
  private func connected() throws -> (Peer, Process) {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.path + "/socket"
    let listener = coffer_local_socket()
    defer { close(listener) }
    try #require(unsafe coffer_local_name(listener, path, 1) == 0 && listen(listener, 1) == 0)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = [
      "-c", "import socket, time; s = socket.socket(socket.AF_UNIX); s.connect('\(path)'); time.sleep(600)",
    ]
    try process.run()
    let connection = coffer_accept(listener)
    defer { close(connection) }
    return (try Peer(of: connection), process)
  }

  private func end(_ process: Process) {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  @Test func aProcessIsWhoItIs() throws {
    let (peer, process) = try connected()
    defer { end(process) }
    #expect(peer.isAlive && peer.process == process.processIdentifier && peer.user == getuid())
    guard let executable = try peer.executable() else { throw POSIXError(.EACCES) }
    #expect(Peer.path(of: executable.number).contains("python"))
  }

  @Test func aProcessThatHasEndedIsNobody() throws {
    let (peer, process) = try connected()
    end(process)
    #expect(!peer.isAlive)
    #expect(throws: Peer.Failure.gone) { _ = try peer.executable() }
  }

  /// Whoever gets the number of a process that has ended is not that process. To have a number given out is the privilege of root;
  /// where this is not root's process, what a process that has ended is, says the test above.
  @Test func whoHasItsNumberIsNotIt() throws {
    let (peer, process) = try connected()
    end(process)
    for _ in 0..<500 {
      guard let last = FileHandle(forWritingAtPath: "/proc/sys/kernel/ns_last_pid") else { return }
      guard (try? last.write(contentsOf: Data("\(peer.process - 1)".utf8))) != nil else { return }
      try last.close()
      let other = Process()
      other.executableURL = URL(filePath: "/bin/sleep")
      other.arguments = ["600"]
      try other.run()
      defer { end(other) }
      guard other.processIdentifier == peer.process else { continue }
      // There is such a process, and it is another one.
      #expect(FileManager.default.fileExists(atPath: "/proc/\(peer.process)/exe"))
      #expect(!peer.isAlive)
      #expect(throws: Peer.Failure.gone) { _ = try peer.executable() }
      return
    }
    Issue.record("the number \(peer.process) was not given out again")
  }
}
