import CLinux
import Coffer
import CofferAudit
import CofferConsole
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
  /// - Parameter options: Of `cofferd`.
  /// - Returns: Whether it was started.
  /// - Throws: other, where there is none, or it does not start.
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

  /// What has become of one that was started.
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
  /// - Returns: What it says.
  private func start(_ program: String, _ arguments: [String]) throws -> Start {
    var pipes: [Int32] = [0, 0]
    guard unsafe pipe(&pipes) == 0 else { throw SystemError.last.failure(program) }
    defer { Glibc.close(pipes[0]) }
    for descriptor in pipes { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, pipes[1], 3)
    unsafe coffer_spawn_close_from(&actions, 4)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setflags(&attributes, Int16(0x80))  // POSIX_SPAWN_SETSID
    let words = unsafe ([program] + arguments).map { (word) -> UnsafeMutablePointer<CChar>? in unsafe strdup(word) }
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    var child: pid_t = 0
    let result = unsafe posix_spawn(&child, program, &actions, &attributes, words + [nil], environ)
    Glibc.close(pipes[1])
    guard result == 0 else { throw SystemError(number: result).failure(program) }
    let answer = try Descriptor(number: pipes[0], name: "the agent").contents(limit: 4096)
    let lines = String(decoding: answer, as: UTF8.self).split(separator: "\n").map(String.init)
    if lines == ["ready"] { return .ready }
    // It has nothing else to say, and ends.
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
    if lines == ["running"] { return .running }
    // The low byte is the signal that has ended it.
    let code = status & 0x7F == 0 ? ExitStatus(rawValue: status >> 8 & 0xFF) ?? .other : .other
    return .failed(
      Failure(
        code == .ok ? .other : code, "the agent does not start: \(lines.first ?? "it ended at once")",
        hint: lines.dropFirst().first.map { String($0.trimmingPrefix("hint: ")) }))
  }
}
