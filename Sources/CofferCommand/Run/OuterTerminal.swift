import CofferConsole
import Glibc

/// The terminal at which this process was started, while a program runs on a terminal of its own.
///
/// In raw mode each key goes to the program's terminal, which makes signals of ^C and ^Z, echoes, and edits lines, as its mode says. The
/// mode is never set from the background: it is that of another job then.
final class OuterTerminal {
  let descriptor: Descriptor
  /// The mode to restore.
  private var saved: termios?

  /// Whether other programs of a pipeline write to it: their line ends keep their returns.
  private let isShared: Bool

  init(_ descriptor: Descriptor, isShared: Bool) {
    self.descriptor = descriptor
    self.isShared = isShared
  }

  /// Also true for a terminal that controls no process.
  var isForeground: Bool {
    let group = tcgetpgrp(descriptor.number)
    return group < 0 ? errno == ENOTTY : group == getpgrp()
  }

  var mode: termios? {
    var mode = termios()
    return unsafe tcgetattr(descriptor.number, &mode) == 0 ? mode : nil
  }

  var size: winsize? {
    var size = winsize()
    return unsafe ioctl(descriptor.number, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
  }

  /// Whether it writes CR and LF for each LF.
  var addsReturns: Bool { mode.map { $0.c_oflag & tcflag_t(OPOST) != 0 && $0.c_oflag & tcflag_t(ONLCR) != 0 } ?? false }

  func makeRaw() {
    guard saved == nil, isForeground, let mode else { return }
    var raw = mode
    unsafe cfmakeraw(&raw)
    if isShared { raw.c_oflag = mode.c_oflag }
    if set(raw) { saved = mode }
  }

  func restore() {
    guard let mode = saved else { return }
    saved = nil
    if isForeground { _ = set(mode) }
  }

  private func set(_ mode: termios) -> Bool {
    var mode = mode
    return unsafe tcsetattr(descriptor.number, TCSANOW, &mode) == 0
  }
}
