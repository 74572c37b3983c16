import CLinux
import CofferConsole
import CofferFiles
import Glibc

/// A program that this one waits for, because something has to be cleaned up afterwards.
enum ChildProcess {
  /// Those that wait from before there is something to clean up.
  static func blockSignals() throws -> BlockedSignals {
    try BlockedSignals(BlockedSignals.notIgnored(BlockedSignals.ending) + [SIGCHLD])
  }

  /// Runs it and waits. An interrupt from the terminal is the program's; what would end this one alone is handed on.
  /// - Returns: Its exit status, as a shell gives it.
  /// - Throws: not found; I/O.
  static func run(_ words: [String], _ signals: borrowing BlockedSignals) throws -> Int32 {
    let child = try start(words, mask: signals.previousMask)
    while true {
      var entry = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&entry, 1, -1)
      while let signal = signals.next() {
        if isHandedOn(signal) { kill(child, signal) }
      }
      var status: Int32 = 0
      guard unsafe waitpid(child, &status, WNOHANG) == child else { continue }
      return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }
  }

  /// Whether a signal would end this process alone.
  /// - Parameter signal: One of those that wait.
  static func isHandedOn(_ signal: Int32) -> Bool { ![SIGINT, SIGQUIT, SIGCHLD].contains(signal) }

  /// - Parameter mask: The blocked signals in the program.
  /// - Throws: not found; I/O.
  static func start(_ words: [String], mask: sigset_t) throws -> pid_t {
    HiddenTerminal.restore()
    var program = ChildProgram(words[0], Array(words.dropFirst()))
    program.isSearched = true
    program.closesOthers = false
    program.blocked = mask
    program.defaults = ChildProgram.signals([SIGPIPE, SIGXFSZ])
    let child = program.start()
    guard child.errno == 0 else { throw SystemError(number: child.errno).failure(words[0]) }
    return child.process
  }
}
