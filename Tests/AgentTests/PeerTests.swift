import CLinux
import Foundation
import SystemCalls
import Testing
import Waiting

@testable import Agent

/// What the kernel says of the other end, while it runs and afterwards.
@Suite(.timeLimit(.minutes(60))) struct PeerTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-peer-\(UUID().uuidString.prefix(8))")

  /// For what follows the kernel of Debian 12 too, which has no SO_PEERPIDFD.
  static let both = [Peer.Pinning.automatic, .byNumber]

  /// Whether the next process can be given a number: root's right.
  static let canChooseNumbers = unsafe access("/proc/sys/kernel/ns_last_pid", W_OK) == 0

  /// A process that has connected, and what is known of it.
  private func connected(_ pinning: Peer.Pinning) throws -> (Peer, Process) {
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
    return (try Peer(of: connection, pinning: pinning), process)
  }

  private func end(_ process: Process) {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  @Test(arguments: both) func aProcessIsWhoItIs(_ pinning: Peer.Pinning) throws {
    let (peer, process) = try connected(pinning)
    defer { end(process) }
    #expect(peer.isAlive && peer.process == process.processIdentifier && peer.user == getuid())
    guard let executable = try peer.executable() else { throw POSIXError(.EACCES) }
    #expect(Peer.path(of: executable.number).contains("python"))
  }

  @Test(arguments: both) func aProcessThatHasEndedIsNobody(_ pinning: Peer.Pinning) throws {
    let (peer, process) = try connected(pinning)
    end(process)
    #expect(!peer.isAlive)
    #expect(throws: Peer.Failure.gone) { _ = try peer.executable() }
  }

  /// Starts a program until it has the number.
  private func start(_ command: [String], as number: Int32) throws -> Process {
    for _ in 0..<500 {
      try "\(number - 1)".write(toFile: "/proc/sys/kernel/ns_last_pid", atomically: false, encoding: .utf8)
      let other = Process()
      other.executableURL = URL(filePath: command[0])
      other.arguments = Array(command.dropFirst())
      try other.run()
      if other.processIdentifier == number { return other }
      end(other)
    }
    throw NeverCame(description: "the number \(number) was not given out again")
  }

  /// Whoever gets the number of a process that has ended is not that process.
  @Test(.enabled(if: canChooseNumbers, "only root has a number given out"), arguments: both)
  func whoHasItsNumberIsNotIt(_ pinning: Peer.Pinning) throws {
    let (peer, process) = try connected(pinning)
    end(process)
    let other = try start(["/bin/sleep", "600"], as: peer.process)
    defer { end(other) }
    // There is such a process, and it is another one.
    #expect(FileManager.default.fileExists(atPath: "/proc/\(peer.process)/exe"))
    #expect(!peer.isAlive)
    #expect(throws: Peer.Failure.gone) { _ = try peer.executable() }
  }

  /// One that connects, leaves the connection to a child, and ends; then its number is given to a process of another user, before anybody
  /// has looked.
  @Test(.enabled(if: canChooseNumbers, "only root has a number given out"), arguments: both)
  func whoseNumberAnotherUserHasIsGone(_ pinning: Peer.Pinning) throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.path + "/socket"
    guard let listener = OwnedDescriptor(coffer_local_socket()) else { throw POSIXError(.EMFILE) }
    try #require(unsafe coffer_local_name(listener.number, path, 1) == 0 && listen(listener.number, 1) == 0)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = [
      "-c",
      """
      import os, socket, time
      s = socket.socket(socket.AF_UNIX); s.connect('\(path)')
      if os.fork() == 0: time.sleep(600 if os.read(0, 1) else 0); os._exit(0)
      """,
    ]
    let held = Pipe()
    process.standardInput = held
    try process.run()
    process.waitUntilExit()
    guard let connection = OwnedDescriptor(coffer_accept(listener.number)) else { throw POSIXError(.ENOTCONN) }
    let other = try start(
      ["/usr/bin/setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", "/bin/sleep", "600"],
      as: process.processIdentifier)
    defer { end(other) }
    try wait(for: "it runs as the other user") {
      try FileManager.default.attributesOfItem(atPath: "/proc/\(other.processIdentifier)")[.ownerAccountID] as? Int == 54321
    }
    #expect(throws: Peer.Failure.gone) { _ = try Peer(of: connection.number, pinning: pinning) }
    try held.fileHandleForWriting.close()
  }
}
