import CLinux
import CofferFiles
import Glibc
import Synchronization

/// The signals that end a program which stays. They are blocked, and a thread waits for them.
final class EndSignal: Sendable {
  /// In seconds: a call of the engine may take longer, and may be cut off as well as by a power loss.
  private static let patience: UInt32 = 5

  private let hasCome = Atomic(false)
  /// Whether the program has to end.
  var isHere: Bool { hasCome.load(ordering: .acquiring) }

  /// Before there is another thread.
  /// - Parameter tell: Called with the signal.
  /// - Returns: nil if the system has no thread left.
  init?(tell: @escaping @Sendable () -> Void) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP] where coffer_signal_is_ignored(signal) == 0 { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    let awaited = set
    let isStarted = DetachedThread.start("coffer-signals") { [self] in
      var (set, number): (sigset_t, Int32) = (awaited, 0)
      while unsafe sigwait(&set, &number) != 0 {}
      hasCome.store(true, ordering: .releasing)
      tell()
      sleep(Self.patience)
      exit(0)
    }
    guard isStarted else { return nil }
  }
}
