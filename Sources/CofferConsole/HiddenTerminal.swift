internal import CLinux
internal import Glibc

/// The controlling terminal without echo, from the first question of a command until the command ends or starts another program.
///
/// Text that is typed while a key is derived, or between two questions, is not shown and is read by the next question. Text
/// that no question has read is discarded at the end: it may be a part of a secret, and a shell would show it.
///
/// Every exit and every signal that can be handled restores the terminal. tcsetattr(3) may be called in a signal handler.
package enum HiddenTerminal {
  private struct State {
    var descriptor: Int32 = -1
    var shown = termios()
    var hidden = termios()
    var isHidden = false
    /// The text beside which the cursor stands, in columns.
    var noticeWidth = 0
  }

  /// Allocated before the first handler is set: the handler only reads and writes it.
  private nonisolated(unsafe) static let state: UnsafeMutablePointer<State> = {
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    unsafe state.initialize(to: State())
    atexit { HiddenTerminal.restore() }
    return unsafe state
  }()

  /// Those that end a process, and the one that stops it from the keyboard. A signal that is ignored stays ignored.
  private static let signals = [
    SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGUSR1, SIGSEGV, SIGUSR2, SIGALRM, SIGTERM, SIGXCPU,
    SIGVTALRM,
    SIGPROF, SIGIO, SIGPWR, SIGSYS, SIGTSTP, SIGCONT,
  ]

  /// Switches echo and line editing off, unless they are off already.
  /// - Returns: The terminal, or nil if there is none or if another job has it.
  package static func hide() -> Descriptor? {
    if unsafe state.pointee.descriptor < 0 {
      unsafe state.pointee.descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    }
    let descriptor = unsafe state.pointee.descriptor
    guard descriptor >= 0, isForeground() else { return nil }
    if unsafe !state.pointee.isHidden {
      guard unsafe tcgetattr(descriptor, &state.pointee.shown) == 0 else { return nil }
      unsafe state.pointee.hidden = withoutEcho(state.pointee.shown)
      withoutSignals {
        for signal in signals { coffer_signal_handle(signal) { HiddenTerminal.handle($0) } }
        unsafe state.pointee.isHidden = true
        apply(isHidden: true)
      }
    }
    return Descriptor(number: descriptor, name: "terminal")
  }

  /// Interrupt and suspend keys still make signals.
  private static func withoutEcho(_ mode: termios) -> termios {
    var mode = mode
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ECHOE | ECHOK | ECHONL | IEXTEN)
    mode.c_lflag |= tcflag_t(ISIG)
    mode.c_iflag |= tcflag_t(ICRNL)
    mode.c_iflag &= ~tcflag_t(IXON)
    mode.c_cc.6 = 1
    mode.c_cc.5 = 0
    return mode
  }

  /// The key that takes back a character.
  package static var eraseKey: UInt8 { unsafe state.pointee.shown.c_cc.2 }

  /// Restores the terminal, before another program gets it or this one ends. Does nothing if it is not hidden.
  package static func restore() {
    guard unsafe state.pointee.isHidden else { return }
    clearNotice()
    withoutSignals {
      apply(isHidden: false)
      unsafe state.pointee.isHidden = false
      for signal in signals { coffer_signal_unhandle(signal) }
    }
    unsafe close(state.pointee.descriptor)
    unsafe state.pointee.descriptor = -1
  }

  /// A signal between the handler and the state that it reads would have no effect. It acts when `body` has returned.
  private static func withoutSignals(_ body: () -> Void) {
    var (all, before) = (sigset_t(), sigset_t())
    _ = unsafe sigfillset(&all)
    _ = unsafe sigprocmask(SIG_BLOCK, &all, &before)
    body()
    _ = unsafe sigprocmask(SIG_SETMASK, &before, nil)
  }

  /// A background job that sets a mode would be stopped, and the terminal is another job's.
  private static func apply(isHidden: Bool) {
    guard isForeground() else { return }
    var mode = unsafe isHidden ? state.pointee.hidden : state.pointee.shown
    _ = unsafe tcsetattr(state.pointee.descriptor, TCSAFLUSH, &mode)
  }

  private static func isForeground() -> Bool { unsafe tcgetpgrp(state.pointee.descriptor) == getpgrp() }

  /// Discards what was typed before it was asked for.
  package static func discardTypedAhead() {
    if unsafe state.pointee.isHidden { _ = unsafe tcflush(state.pointee.descriptor, TCIFLUSH) }
  }

  /// Calls functions that POSIX allows in a handler, and no others.
  private static func handle(_ signal: Int32) {
    guard unsafe state.pointee.isHidden else { return }
    let error = errno
    defer { errno = error }
    guard signal != SIGCONT else { return apply(isHidden: true) }
    apply(isHidden: false)
    if unsafe state.pointee.noticeWidth > 0 { _ = unsafe write(state.pointee.descriptor, "\n", 1) }
    unsafe state.pointee.noticeWidth = 0
    // The handler has blocked all signals: this one acts when it returns, or where it is let through.
    coffer_signal_default(signal)
    raise(signal)
    guard signal == SIGTSTP else { return }
    var stop = sigset_t()
    _ = unsafe sigemptyset(&stop)
    _ = unsafe sigaddset(&stop, signal)
    _ = unsafe sigprocmask(SIG_UNBLOCK, &stop, nil)
    coffer_signal_handle(signal) { HiddenTerminal.handle($0) }
  }

  /// Says what the command does between two questions. The next text replaces it.
  package static func show(_ notice: String) {
    guard unsafe state.pointee.isHidden else { return }
    Descriptor(number: unsafe state.pointee.descriptor, name: "terminal").note(notice)
    unsafe state.pointee.noticeWidth = notice.count
  }

  package static func clearNotice() {
    let width = unsafe state.pointee.noticeWidth
    guard width > 0 else { return }
    unsafe state.pointee.noticeWidth = 0
    Descriptor(number: unsafe state.pointee.descriptor, name: "terminal").note("\r\(String(repeating: " ", count: width))\r")
  }
}
