import Coffer
import CofferAudit
import CofferConsole
import CofferFiles
import CofferStorage
import Glibc

/// `cofferd`, which lies beside this program.
struct AgentProgram {
  let socket: String
  /// Nil for the user's own.
  private let vault: String?

  init(for options: VaultOptions) throws {
    socket = try options.socket()
    vault = options.vault
  }

  private var isRunning: Bool { get throws { try Keychain.connect(toAgentAt: socket).agentStateIfThere() != nil } }

  /// Returns when it listens.
  /// - Parameter options: The options of `cofferd`.
  /// - Returns: Whether it was started.
  /// - Throws: `other` if there is no `cofferd`, or it does not start.
  func startUnlessRunning(with options: [String]) throws -> Bool {
    guard try !isRunning else { return false }
    guard let program = Self.path, unsafe access(program, X_OK) == 0 else {
      throw Failure(
        .other, "the agent is missing: \(Self.path ?? "cofferd")",
        hint: "it is installed beside coffer; without it: coffer vault unlock --check")
    }
    let arguments = (vault.map { ["--vault", $0] } ?? []) + options + ["--ready-fd", "3"]
    var end = try start(program, arguments)
    // Another command may have started it meanwhile; one that was told to end may still have to go.
    for _ in 0..<50 {
      guard case .running = end else { break }
      if try isRunning { return false }
      usleep(100_000)
      end = try start(program, arguments)
    }
    switch end {
    case .ready: return true
    case .running:
      throw Failure(
        .inputOutput, "the agent does not start: another one has the vault, and does not answer on \(socket)",
        hint: "end that one: kill(1)")
    case .failed(let failure): throw failure
    }
  }

  /// The result of starting one.
  private enum Start {
    case ready
    /// There is another one.
    case running
    case failed(Failure)
  }

  private static var path: String? {
    let own = AuditPlace.caller().executable
    return own.utf8.lastIndex(of: UInt8(ascii: "/")).map { own[...$0] + "cofferd" }
  }

  /// In a session of its own, with nothing of this one's but what is said here.
  /// - Returns: Its answer.
  private func start(_ program: String, _ arguments: [String]) throws -> Start {
    var pipes: [Int32] = [0, 0]
    guard unsafe pipe(&pipes) == 0 else { throw SystemError.last.failure(program) }
    defer { Glibc.close(pipes[0]) }
    for descriptor in pipes { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var agent = ChildProgram(program, arguments)
    agent.streams = [.none, .none, .none, .descriptor(pipes[1])]
    agent.hasSession = true
    let child = agent.start()
    Glibc.close(pipes[1])
    guard child.errno == 0 else { throw SystemError(number: child.errno).failure(program) }
    let answer = try Descriptor(number: pipes[0], name: "the agent").contents(limit: 4096)
    let lines = String(decoding: answer, as: UTF8.self).split(separator: "\n").map(String.init)
    if lines == ["ready"] { return .ready }
    // It has nothing else to say, and ends.
    let status = ChildProgram.wait(for: child.process) ?? 0
    if lines == ["running"] { return .running }
    // The low byte is the signal that has ended it.
    let code = status & 0x7F == 0 ? ExitStatus(rawValue: status >> 8 & 0xFF) ?? .other : .other
    return .failed(
      Failure(
        code == .ok ? .other : code, "the agent does not start: \(lines.first ?? "it ended at once")",
        hint: lines.dropFirst().first.map { String($0.trimmingPrefix("hint: ")) }))
  }
}
