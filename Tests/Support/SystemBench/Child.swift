import CofferFiles
import Glibc

/// A process that has nothing of this one's but what it is given. Foundation's `Process` knows of an end by a descriptor, which a process that
/// another thread starts at that moment may keep open.
public final class Child: Sendable {
  public let process: Int32

  /// - Parameters:
  ///   - descriptors: Its standard input, output and errors. They stay open here.
  ///   - environment: `NAME=value`.
  public init(_ command: [String], in directory: String, environment: [String], descriptors: [Int32]) throws {
    let directory = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(directory) }
    var program = ChildProgram(command[0], Array(command.dropFirst()))
    program.environment = environment
    program.directory = directory
    program.streams = descriptors.map { .descriptor($0) }
    // A thread of a test may block signals that are to end it.
    program.blocked = ChildProgram.noSignals
    let started = program.start()
    guard started.errno == 0 else { throw SystemBench.Failure(what: "\(command[0]): errno \(started.errno)") }
    process = started.process
  }

  /// Its exit status; that of a signal, 128 and more.
  @discardableResult public func wait() -> Int32 {
    let status = ChildProgram.wait(for: process) ?? 0
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }

  public func end(by signal: Int32 = 9) {
    kill(process, signal)
    wait()
  }

  /// The same, and by SIGKILL after so many milliseconds.
  public func end(by signal: Int32, within limit: Int) {
    kill(process, signal)
    let deadline = Deadline(milliseconds: limit)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, WNOHANG) == 0 {
      guard !deadline.hasPassed else { return end() }
      usleep(1000)
    }
  }

  public struct Outcome: Sendable {
    public let status: Int32
    public let output: String
    public let errors: String
    public var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// Runs a command to its end.
  public static func run(
    _ command: [String], in directory: String, environment: [String], input: String = ""
  ) throws -> Outcome {
    let (given, output, errors) = (try pair(), try pair(), try pair())
    let child = try Child(
      command, in: directory, environment: environment, descriptors: [given.there, output.there, errors.there])
    for end in [given.there, output.there, errors.there] { close(end) }
    unsafe _ = Array(input.utf8).withUnsafeBytes { unsafe send(given.here, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    close(given.here)
    let (text, complaint) = (text(output.here), text(errors.here))
    for end in [output.here, errors.here] { close(end) }
    return Outcome(status: child.wait(), output: text, errors: complaint)
  }

  /// Everything until all who write have closed.
  public static func text(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe recv(descriptor, &room, room.count, 0)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += room[..<count]
    }
  }

  /// Two ends of one, which no process that is started elsewhere inherits.
  public static func pair() throws -> (here: Int32, there: Int32) {
    var ends: [Int32] = [0, 0]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw SystemBench.Failure(what: "socketpair: errno \(errno)")
    }
    return (ends[0], ends[1])
  }
}
