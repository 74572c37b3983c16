import CLinux
import CofferConsole
import Glibc

/// Becoming another program, and asking one whether it works.
enum Launch {
  /// As env(1) and its like: not started, found but not started, not found.
  static let notStarted: Int32 = 125
  private static let notExecutable: Int32 = 126
  private static let notFound: Int32 = 127

  /// This process becomes the program, so that signals, the terminal and the exit status are its own.
  /// - Parameters:
  ///   - descriptor: Stays open in it.
  ///   - isAlone: Whether of the others only the three standard ones do. What the caller has left open leads out of a sandbox: from a
  ///     directory `..` goes on.
  static func become(_ program: String, _ arguments: [String], keeping descriptor: Int32, alone isAlone: Bool) throws -> Never {
    if isAlone, coffer_close_on_exec_from(3) != 0 { throw SystemError.last.failure("close_range") }
    _ = fcntl(descriptor, F_SETFD, 0)
    HiddenTerminal.restore()
    // What `Hardening` ignores would be ignored in there too.
    for signal in [SIGPIPE, SIGXFSZ] { coffer_signal_default(signal) }
    var words = unsafe cStrings([program] + arguments)
    unsafe execv(program, &words)
    let error = SystemError.last
    Descriptor.error.note("coffer: \(program.escapingControls()): \(error.text)\n")
    exit(error.number == ENOENT ? notFound : notExecutable)
  }

  /// Whether it ends with 0. Nothing that it prints is shown.
  static func succeeds(_ program: String, _ arguments: [String]) throws -> Bool {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
    }
    var words = unsafe cStrings([program] + arguments)
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    var process: pid_t = 0
    guard unsafe posix_spawn(&process, program, &actions, nil, &words, Glibc.environ) == 0 else { return false }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { throw SystemError.last.failure(program) }
    }
    return status == 0
  }

  /// With a nil at the end.
  private static func cStrings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
    for text in texts { unsafe pointers.append(strdup(text)) }
    unsafe pointers.append(nil)
    return unsafe pointers
  }
}
