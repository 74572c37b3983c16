import CLinux
import CofferConsole
import CofferFiles
import Glibc

/// A program for which this process waits, and for which it stands: signals that this process gets go to the program, and if the program
/// stops or ends, this process does.
struct SupervisedProgram: ~Copyable {
  private let signals: BlockedSignals
  private var process: pid_t = 0

  private static let forwarded = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT]
  private static let stops = [SIGTSTP, SIGTTIN, SIGTTOU]

  /// From here on signals wait, so that none ends this process while there is something to clean up.
  init() throws {
    signals = try BlockedSignals(BlockedSignals.notIgnored(Self.forwarded + Self.stops) + [SIGCHLD])
  }

  /// - Returns: 0, or the errno.
  mutating func start(_ file: ProgramFile, _ words: CStrings.Pointers, _ variables: CStrings.Pointers) -> Int32 {
    var program = ChildProgram(file.name)
    program.closesOthers = false
    program.blocked = signals.previousMask
    let started = unsafe file.start(program, words, variables)
    process = started.process
    return started.errno
  }

  /// - Returns: The status of the program, as waitpid(2) has it.
  func wait() -> Int32 {
    while true {
      var entry = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&entry, 1, -1)
      while let signal = signals.nextWithSender() { forward(signal.number, isFromKernel: signal.isFromKernel) }
      if let status = reap() { return status }
    }
  }

  /// The program is in this process group, so it has already got what the kernel has sent to all of the group.
  private func forward(_ signal: Int32, isFromKernel: Bool) {
    guard signal != SIGCHLD, !isFromKernel else { return }
    kill(process, signal)
  }

  /// The status of the program if it has ended. If it has stopped, this process stops too, so that a shell sees it.
  private func reap() -> Int32? {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, WNOHANG | WUNTRACED) == process {
      guard status & 0xFF == 0x7F else { return status }
      let signal = (status >> 8) & 0xFF
      if Self.stops.contains(signal) { signals.letThrough(signal) } else { raise(SIGSTOP) }
    }
    return nil
  }

  /// Ends this process as the program has ended: with its exit status, or of the same signal.
  static func end(as status: Int32) -> Never {
    let signal = status & 0x7F
    guard signal != 0 else { exit((status >> 8) & 0xFF) }
    coffer_signal_default(signal)
    var one = ChildProgram.signals([signal])
    _ = unsafe sigprocmask(SIG_UNBLOCK, &one, nil)
    raise(signal)
    exit(128 + signal)
  }
}
