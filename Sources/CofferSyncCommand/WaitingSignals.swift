import CLinux
import CofferConsole
import Glibc

/// While it lives, a signal that would end the process waits until it is asked for.
final class WaitingSignals {
  private var set = sigset_t()
  private var former = sigset_t()

  init() {
    unsafe sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP] where coffer_signal_is_ignored(signal) == 0 { unsafe sigaddset(&set, signal) }
    unsafe sigprocmask(SIG_BLOCK, &set, &former)
  }

  deinit { unsafe sigprocmask(SIG_SETMASK, &former, nil) }

  /// - Throws: `Failure.cancelled` after a signal.
  func check() throws {
    var pending = sigset_t()
    unsafe sigpending(&pending)
    for signal in [SIGINT, SIGTERM, SIGHUP] where unsafe sigismember(&set, signal) == 1 && sigismember(&pending, signal) == 1 {
      // It has done what it was sent for.
      var number: Int32 = 0
      unsafe sigwait(&set, &number)
      throw Failure.cancelled
    }
  }
}
