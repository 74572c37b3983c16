import CLinux
import CofferFiles
import Glibc
import ProgramSecrets

/// The second process of `coffer run` on a terminal. It leads the session of the program's pseudo-terminal, starts the program in a process
/// group of its own, and reports when that stops or ends.
///
/// The program itself cannot lead the session: its group would be orphaned, and ^Z would not stop it. `coffer run` cannot be its parent for
/// the same reason. Secrets come through the socket, into locked memory.
enum ProgramMonitor {
  static let name = "coffer-run-monitor"
  /// The words before those of the program: this name, the socket, the terminal, whether the program is in its foreground, and the file.
  static let wordCount = 5

  static var isCalled: Bool {
    guard CommandLine.argc > Int32(wordCount), let word = unsafe CommandLine.unsafeArgv[0] else { return false }
    return unsafe strcmp(word, name) == 0
  }

  static func run() -> Never {
    Hardening.hide()
    do {
      try Monitor().run()
    } catch {}
    // The other end reads that nothing has started, or that this process has ended.
    exit(1)
  }

  private final class Monitor {
    private let channel: MonitorChannel
    private let terminal: Int32
    private let isInForeground: Bool
    private let signals: BlockedSignals
    private var process: pid_t = 0

    init() throws {
      func number(_ index: Int) throws -> Int32 {
        guard let word = unsafe CommandLine.unsafeArgv[index], let number = unsafe Int32(String(cString: word)) else {
          throw MonitorChannel.Ended()
        }
        return number
      }
      guard let owned = OwnedDescriptor(try number(1)) else { throw MonitorChannel.Ended() }
      _ = fcntl(owned.number, F_SETFD, FD_CLOEXEC)
      channel = MonitorChannel(owned)
      terminal = try number(2)
      isInForeground = try number(3) == 1
      // Keys that are typed before the program is in the foreground send some; a change of the foreground from behind sends another.
      signals = try BlockedSignals([SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU])
    }

    func run() throws {
      guard ioctl(terminal, UInt(TIOCSCTTY), 0) == 0, let path = unsafe CommandLine.unsafeArgv[4] else { return }
      try start(unsafe ProgramFile(at: path))
      // The pipes of the program end when it closes them.
      for stream in 0..<Int32(3) where stream != terminal { dup2(terminal, stream) }
      while true {
        var entries = [signals.descriptor, channel.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = unsafe poll(&entries, 2, -1)
        while signals.next() != nil {}
        report()
        guard entries[1].revents != 0 else { continue }
        guard let command = channel.nextCommand() else {
          // The output has no reader any more, as if a terminal was closed.
          hangUp()
          return
        }
        obey(command)
      }
    }

    private func start(_ file: ProgramFile) throws {
      var program = ChildProgram(file.name)
      program.closesOthers = false
      program.blocked = signals.previousMask
      program.hasGroup = true
      program.foregroundTerminal = isInForeground ? terminal : nil
      let variables = try channel.receiveVariables()
      let started = unsafe variables.lend { unsafe file.start(program, CommandLine.unsafeArgv + ProgramMonitor.wordCount, $0) }
      process = started.process
      channel.send(.started(started.errno, process))
      guard started.errno == 0 else { exit(0) }
    }

    private func report() {
      var status: Int32 = 0
      while unsafe waitpid(process, &status, WNOHANG | WUNTRACED) == process {
        let hasEnded = status & 0xFF != 0x7F
        // At the end of a session its foreground gets SIGHUP. Programs that were left in the background do not get one without coffer.
        if hasEnded { tcsetpgrp(terminal, getpgrp()) }
        channel.send(.status(status))
        if hasEnded { exit(0) }
      }
    }

    private func obey(_ command: MonitorChannel.Command) {
      switch command {
      case .signal(let number): kill(-process, number)
      case .resume(let inForeground):
        tcsetpgrp(terminal, inForeground ? process : getpgrp())
        kill(-process, SIGCONT)
      }
    }

    private func hangUp() {
      kill(-process, SIGHUP)
      kill(-process, SIGCONT)
    }
  }
}
