internal import CLinux
internal import CofferFiles
internal import Glibc

/// An OpenSSH ssh-agent that this process has started for itself.
///
/// It runs beside a program that reads a pipe of this process, because ssh-agent ends within 10 s when that program has: so no agent is
/// left behind when this process is killed. (A signal at the death of its parent would not reach it: ssh-agent is set-group-ID.)
package final class PrivateAgent: Sendable {
  package enum Failure: Error, Equatable {
    /// There is no ssh-agent in PATH, or it cannot be started.
    case notStarted(Int32)
    /// It has ended at once; it has said why on standard error.
    case ended
  }

  /// The socket. It lies in a directory of its own.
  package let socket: String
  package let process: Int32
  private let pinned: OwnedDescriptor?
  private let companion: Int32
  /// The companion reads the other end.
  private let pipe: OwnedDescriptor

  /// Readable when the agent has ended. -1 if the kernel has no such descriptor.
  package let end: Int32

  /// Hands over the number of the agent's process, and the path, which may have blanks.
  package static let script = #"echo "$SSH_AGENT_PID $SSH_AUTH_SOCK" && exec cat >/dev/null 2>&1"#

  /// Returns when it listens.
  /// - Parameter options: Options of ssh-agent(1).
  /// - Throws: `Failure`.
  package init(options: [String] = []) throws(Failure) {
    // The agent is the companion's child, and comes to this process when that ends. Not every first process waits for strangers.
    _ = coffer_prctl(PR_SET_CHILD_SUBREAPER, 1)
    guard let life = Pipe(), let report = Pipe() else { throw .notStarted(errno) }
    var program = ChildProgram("ssh-agent", options + ["/bin/sh", "-c", Self.script])
    program.isSearched = true
    program.streams = [.descriptor(life.reading.number), .descriptor(report.writing.number), .same]
    program.hasSession = true
    program.blocked = ChildProgram.noSignals
    program.defaults = ChildProgram.signals([SIGPIPE, SIGXFSZ])
    let started = program.start()
    guard started.errno == 0 else { throw .notStarted(started.errno) }
    // With the end for writing open here, the end of a program that reports nothing would not be noticed.
    let line = report.close().line().split(separator: " ", maxSplits: 1)
    guard line.count == 2, let process = Int32(line[0]), process > 0, line[1].first == "/" else {
      kill(started.process, SIGKILL)
      _ = ChildProgram.wait(for: started.process)
      throw .ended
    }
    (self.process, socket, companion) = (process, String(line[1]), started.process)
    pipe = life.keep()
    end = coffer_pidfd_open(process)
    pinned = OwnedDescriptor(end)
  }

  /// Removes the socket: only those who are connected can use the agent.
  package func hide() {
    _ = unsafe unlink(socket)
    _ = unsafe rmdir(Path.parent(of: socket))
  }

  /// The agent's memory goes with its process. The program beside it has not waited for it, so its number is still its own.
  deinit {
    kill(process, SIGKILL)
    hide()
    kill(companion, SIGKILL)
    _ = ChildProgram.wait(for: companion)
    _ = ChildProgram.wait(for: process)
  }
}

/// A pair of sockets, each for one way, since pipe(2) lets a program that is started at that moment get an end by chance.
private struct Pipe: ~Copyable {
  let reading: OwnedDescriptor
  let writing: OwnedDescriptor

  init?() {
    var ends: [Int32] = [0, 0]
    guard unsafe coffer_local_pair(&ends) == 0, let reading = OwnedDescriptor(ends[0]), let writing = OwnedDescriptor(ends[1])
    else { return nil }
    self.reading = reading
    self.writing = writing
  }

  /// Closes the end for writing.
  consuming func close() -> Report { Report(descriptor: reading) }

  /// Closes the end for reading.
  consuming func keep() -> OwnedDescriptor { writing }
}

private struct Report: ~Copyable {
  let descriptor: OwnedDescriptor

  /// The first line, as far as it comes.
  func line() -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    var count = 0
    while count < bytes.count, !bytes[..<count].contains(UInt8(ascii: "\n")) {
      let got = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor.number, $0.baseAddress! + count, $0.count - count) }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      count += got
    }
    return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
