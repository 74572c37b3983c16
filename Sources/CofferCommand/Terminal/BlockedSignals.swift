import CLinux
import CofferConsole
import CofferFiles
import Glibc

/// While it lives, the given signals do not interrupt: they wait in a descriptor until they are asked for.
///
/// A handler could neither restore the terminal safely nor tell the loop; a descriptor is polled beside the terminal.
struct BlockedSignals: ~Copyable {
  private let file: OwnedDescriptor
  var descriptor: Int32 { file.number }
  private var previous = sigset_t()

  init(_ signals: [Int32]) throws {
    var set = sigset_t()
    _ = unsafe sigemptyset(&set)
    for signal in signals { _ = unsafe sigaddset(&set, signal) }
    _ = unsafe sigprocmask(SIG_BLOCK, &set, &previous)
    guard let file = OwnedDescriptor(unsafe coffer_signalfd(&set)) else {
      let error = SystemError.last
      _ = unsafe sigprocmask(SIG_SETMASK, &previous, nil)
      throw error.failure("signals")
    }
    self.file = file
  }

  /// Those that end a process by default, but for SIGKILL, and for the two that the C library keeps. A fault of this process ends it even
  /// if its signal is blocked.
  static let ending = (1...64).filter {
    ![SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH, 32, 33].contains($0)
  }

  /// Those of some signals that this process was not started to ignore, as by nohup(1): a blocked signal waits also if it is ignored.
  static func notIgnored(_ signals: [Int32]) -> [Int32] {
    signals.filter { coffer_signal_is_ignored($0) == 0 }
  }

  /// One that has come, oldest first as far as the kernel keeps an order.
  func next() -> Int32? {
    let signal = coffer_signalfd_next(descriptor)
    return signal > 0 ? signal : nil
  }

  /// As `next`, and whether the kernel has sent it to all of the process group, as for a key at the terminal, or this process has.
  func nextWithSender() -> (number: Int32, isFromKernel: Bool, isOwn: Bool)? {
    var (isFromKernel, isOwn): (Int32, Int32) = (0, 0)
    let signal = unsafe coffer_signalfd_next_from(descriptor, &isFromKernel, &isOwn)
    return signal > 0 ? (signal, isFromKernel != 0, isOwn != 0) : nil
  }

  /// Lets one signal act as if it had never been blocked. Comes back only from a stop.
  func letThrough(_ signal: Int32) {
    var one = sigset_t()
    _ = unsafe sigemptyset(&one)
    _ = unsafe sigaddset(&one, signal)
    raise(signal)
    _ = unsafe sigprocmask(SIG_UNBLOCK, &one, nil)
    _ = unsafe sigprocmask(SIG_BLOCK, &one, nil)
  }

  /// Whether a signal was blocked before: by an operation that ends in its own way when the signal comes.
  func wasBlocked(_ signal: Int32) -> Bool {
    var mask = previous
    return unsafe sigismember(&mask, signal) == 1
  }

  /// The mask from before, for a child.
  var previousMask: sigset_t { previous }

  deinit {
    var mask = previous
    _ = unsafe sigprocmask(SIG_SETMASK, &mask, nil)
  }
}
