import CLinux
import CofferConsole
import Glibc

/// A program that this one waits for, because something has to be cleaned up afterwards.
enum ChildProcess {
  /// Those that wait from before there is something to clean up.
  static func blockSignals() throws -> BlockedSignals {
    try BlockedSignals([SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD])
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
        if signal == SIGTERM || signal == SIGHUP { kill(child, signal) }
      }
      var status: Int32 = 0
      guard unsafe waitpid(child, &status, WNOHANG) == child else { continue }
      return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }
  }

  /// - Parameter mask: Of signals, in the program.
  /// - Throws: not found; I/O.
  static func start(_ words: [String], mask: sigset_t) throws -> pid_t {
    HiddenTerminal.restore()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var mask = mask
    var defaults = sigset_t()
    _ = unsafe sigemptyset(&defaults)
    for signal in [SIGPIPE, SIGXFSZ] { _ = unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let arguments = unsafe words.map { (word) -> UnsafeMutablePointer<CChar>? in unsafe strdup(word) }
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    var child: pid_t = 0
    let result = unsafe posix_spawnp(&child, words[0], nil, &attributes, arguments + [nil], environ)
    guard result == 0 else { throw SystemError(number: result).failure(words[0]) }
    return child
  }
}
