import AppContainers
import CLinux
import CofferFiles
import CofferRequests
import Foundation
import Testing
import Waiting

@testable import CofferAgent

/// The peer of a connection as the kernel reports it, while the process runs and afterwards.
@Suite(.timeLimit(.minutes(60))) struct PeerTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-peer-\(UUID().uuidString.prefix(8))")

  /// For what follows the kernel of Debian 12 too, which has no SO_PEERPIDFD.
  static let both = [Peer.Pinning.automatic, .byNumber]

  /// Whether a process can be given a number: CAP_SYS_ADMIN, or CAP_CHECKPOINT_RESTORE.
  static let canChooseNumbers: Bool = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let rights = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }?.split(separator: "\t").last
    return UInt64(rights ?? "", radix: 16).map { $0 & (1 << 21 | 1 << 40) != 0 } ?? false
  }()

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

  /// As `coffer-secrets` names one.
  @Test func aNamedProcessIsTheOneThatBeganThen() throws {
    let (_, process) = try connected(.automatic)
    defer { end(process) }
    let (number, user) = (process.processIdentifier, getuid())
    let start = try #require(ProcessStart.ticks(of: number))
    #expect(start <= ProcessStart.now())
    let named = try Peer(process: number, start: start, user: user)
    #expect(named.isAlive && named.process == number)
    #expect(throws: Peer.Failure.gone) { _ = try Peer(process: number, start: start + 1, user: user) }
    #expect(throws: Peer.Failure.gone) { _ = try Peer(process: number, start: start, user: user + 1) }
    for number: Int32 in [0, -1, .max] {
      #expect(throws: Peer.Failure.gone) { _ = try Peer(process: number, start: start, user: user) }
    }
    end(process)
    #expect(throws: Peer.Failure.gone) { _ = try Peer(process: number, start: start, user: user) }
  }

  @Test func aNamedProcessIsRememberedWhileItRuns() throws {
    let (_, process) = try connected(.automatic)
    defer { end(process) }
    let (number, user) = (process.processIdentifier, getuid())
    let start = try #require(ProcessStart.ticks(of: number))
    let named = NamedPeer()
    let peer = try named.peer(number, start: start, user: user)
    #expect(try named.peer(number, start: start, user: user) === peer)
    #expect(throws: Peer.Failure.gone) { _ = try named.peer(number, start: start + 1, user: user) }
    _ = try named.peer(number, start: start, user: user)
    #expect(throws: Peer.Failure.gone) { _ = try named.peer(number, start: start, user: user + 1) }
    _ = try named.peer(number, start: start, user: user)
    // Two processes may start within one tick of the clock.
    #expect((try? named.peer(getpid(), start: start, user: user))?.process != number)
    _ = try named.peer(number, start: start, user: user)
    let own = try #require(ProcessStart.ticks(of: getpid()))
    #expect(try named.peer(getpid(), start: own, user: user).process == getpid())
    _ = try named.peer(number, start: start, user: user)
    end(process)
    #expect(throws: Peer.Failure.gone) { _ = try named.peer(number, start: start, user: user) }
  }

  /// The content of a file that stays the same is remembered. Its place, and what lies at Coffer's own paths, are looked at again.
  @Test func whatARunningProgramIsMayChange() throws {
    let files = FileManager.default
    let (before, after, own) = (directory.path + "/before", directory.path + "/after", directory.path + "/own")
    try files.createDirectory(atPath: before, withIntermediateDirectories: true)
    defer { try? files.removeItem(at: directory) }
    try files.copyItem(atPath: "/bin/sleep", toPath: before + "/program")
    let process = Process()
    process.executableURL = URL(filePath: before + "/program")
    process.arguments = ["600"]
    try process.run()
    defer { end(process) }
    let start = try #require(ProcessStart.ticks(of: process.processIdentifier))
    let peer = try Peer(process: process.processIdentifier, start: start, user: getuid())
    let programs = Programs(in: try DataDirectory(at: directory.path + "/data"), command: nil) {
      $0 == .secretService ? [own] : []
    }
    func path() throws -> String? { if case .program(let path, _) = try programs.identify(peer) { path } else { nil } }
    for _ in 0..<2 { #expect(try path() == before + "/program") }
    try files.createSymbolicLink(atPath: own, withDestinationPath: before + "/program")
    for _ in 0..<2 { #expect(try programs.identify(peer) == .own(.secretService)) }
    try files.removeItem(atPath: own)
    for _ in 0..<2 { #expect(try path() == before + "/program") }
    try files.moveItem(atPath: before, toPath: after)
    for _ in 0..<2 { #expect(try path() == after + "/program") }
    try files.removeItem(atPath: after + "/program")
    #expect(try path() == after + "/program (deleted)")
  }

  @Test(arguments: both) func aProcessThatHasEndedIsNobody(_ pinning: Peer.Pinning) throws {
    let (peer, process) = try connected(pinning)
    end(process)
    #expect(!peer.isAlive)
    #expect(throws: Peer.Failure.gone) { _ = try peer.executable() }
  }

  /// A program that has the number of one that has ended, until its input ends.
  private final class Successor {
    let process = Process()
    private let input = Pipe()

    /// - Returns: nil if somebody else has the number by now.
    init?(_ command: [String], of number: Int32) throws {
      process.executableURL = URL(filePath: "/usr/bin/python3")
      process.arguments = ["-c", Self.script, "\(number)"] + command
      let output = Pipe()
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      let line = String(decoding: try output.fileHandleForReading.read(upToCount: 3) ?? Data(), as: UTF8.self)
      guard line != "has" else { return nil }
      guard line == "is\n" else { throw NeverCame(description: "clone3 with a number: \(line)") }
    }

    deinit {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }

    /// clone3(2) with `set_tid`.
    private static let script = """
      import ctypes, errno, os, signal, struct, sys
      number = (ctypes.c_int * 1)(int(sys.argv[1]))
      call = struct.pack('11Q', 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(number), 1, 0)
      libc = ctypes.CDLL(None, use_errno=True)
      child = libc.syscall(435, call, len(call))
      if child == 0: os.execv(sys.argv[2], sys.argv[2:])
      if child < 0:
          print('has' if ctypes.get_errno() == errno.EEXIST else 'errno %d' % ctypes.get_errno(), flush=True)
          sys.exit(1)
      print('is', flush=True)
      os.read(0, 1)
      os.kill(child, signal.SIGKILL)
      os.waitpid(child, 0)
      """
  }

  /// A process that gets the number of one that has ended is not identified as that one.
  @Test(.enabled(if: canChooseNumbers, "only root gives a process a number"), arguments: both)
  func recycledPIDIsNotThePeer(_ pinning: Peer.Pinning) throws {
    // Another process of the machine may get the number first.
    for _ in 0..<100 {
      let (peer, process) = try connected(pinning)
      end(process)
      guard let other = try Successor(["/bin/sleep", "600"], of: peer.process) else { continue }
      // There is such a process, and it is another one.
      #expect(FileManager.default.fileExists(atPath: "/proc/\(peer.process)/exe"))
      #expect(!peer.isAlive)
      #expect(throws: Peer.Failure.gone) { _ = try peer.executable() }
      return withExtendedLifetime(other) {}
    }
    Issue.record("others had each number")
  }

  /// One that connects, leaves the connection to a child, and ends; then a process of another user gets its number, before anybody has
  /// looked.
  @Test(.enabled(if: canChooseNumbers, "only root gives a process a number"), arguments: both)
  func aNumberReusedByAnotherUserIsGone(_ pinning: Peer.Pinning) throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.path + "/socket"
    guard let listener = OwnedDescriptor(coffer_local_socket()) else { throw POSIXError(.EMFILE) }
    try #require(unsafe coffer_local_name(listener.number, path, 1) == 0 && listen(listener.number, 128) == 0)
    let leaving = """
      import os, socket, sys
      s = socket.socket(socket.AF_UNIX); s.connect('\(path)')
      ready, told = os.pipe()
      if os.fork() == 0:
          # A number is in use as long as a process group has it.
          os.setsid(); os.write(told, b'x')
          # What is left open would keep Foundation from noticing that the parent has ended.
          os.dup2(s.fileno(), 3); os.closerange(4, 65536)
          os.read(0, 1)
      else: os.read(ready, 1)
      """
    for _ in 0..<100 {
      let (process, held) = (Process(), Pipe())
      process.executableURL = URL(filePath: "/usr/bin/python3")
      process.arguments = ["-c", leaving]
      process.standardInput = held
      try process.run()
      process.waitUntilExit()
      defer { try? held.fileHandleForWriting.close() }
      guard let connection = OwnedDescriptor(coffer_accept(listener.number)) else { throw POSIXError(.ENOTCONN) }
      let number = process.processIdentifier
      let sleep = ["/usr/bin/setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", "/bin/sleep", "600"]
      guard let other = try Successor(sleep, of: number) else { continue }
      try wait(for: "it runs as the other user") {
        try FileManager.default.attributesOfItem(atPath: "/proc/\(number)")[.ownerAccountID] as? Int == 54321
      }
      // Since Linux 6.16 the kernel has a descriptor of one that has ended.
      let peer = try? Peer(of: connection.number, pinning: pinning)
      #expect(peer == nil || peer?.isAlive == false)
      #expect(throws: Peer.Failure.gone) { _ = try Peer(of: connection.number, pinning: pinning).executable() }
      return withExtendedLifetime(other) {}
    }
    Issue.record("others had each number")
  }
}
