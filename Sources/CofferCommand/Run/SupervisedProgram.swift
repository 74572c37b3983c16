import CLinux
import CofferConsole
import CofferFiles
import Glibc
import ProgramSecrets

/// A program for which this process waits, and for which it stands: signals that this process gets go to the program, and if the program
/// stops or ends, this process does.
struct SupervisedProgram: ~Copyable {
  private let signals: BlockedSignals
  private var streams = OutputRelay.Streams()
  private var process: pid_t = 0

  private static let forwarded = BlockedSignals.ending + [SIGCONT]
  private static let stops = [SIGTSTP, SIGTTIN, SIGTTOU]
  /// The kernel sends these to a whole process group, and others, as for an alarm, to one process.
  private static let ofGroups = stops + [SIGINT, SIGQUIT, SIGHUP, SIGCONT]

  /// From here on signals wait, so that none ends this process while there is something to clean up.
  /// - Parameter secrets: Those for which the output is searched; nil: the output does not pass through here.
  init(_ secrets: ConcealedSecrets?) throws {
    if let secrets { try OutputRelay.addPipes(to: &streams, except: [], secrets) }
    signals = try BlockedSignals(BlockedSignals.notIgnored(Self.forwarded + Self.stops) + [SIGCHLD])
  }

  /// - Returns: 0, or the errno.
  mutating func start(_ file: ProgramFile, _ words: CStrings.Pointers, _ variables: EnvironmentBlock) -> Int32 {
    var program = ChildProgram(file.name)
    program.closesOthers = false
    program.streams = streams.program
    program.blocked = signals.previousMask
    let started = unsafe variables.lend { unsafe file.start(program, words, $0) }
    process = started.process
    streams.given = []
    return started.errno
  }

  /// - Returns: The status of the program, as waitpid(2) has it.
  func wait() -> Int32 {
    while true {
      _ = streams.relay.wait([pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)])
      while let signal = signals.nextWithSender() { forward(signal.number, isFromKernel: signal.isFromKernel) }
      guard let status = reap() else { continue }
      streams.relay.drain(signals)
      return streams.relay.finish(status)
    }
  }

  /// The program is in this process group, so it has already got what the kernel has sent to all of the group.
  private func forward(_ signal: Int32, isFromKernel: Bool) {
    guard signal != SIGCHLD, !isFromKernel || !Self.ofGroups.contains(signal) else { return }
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
