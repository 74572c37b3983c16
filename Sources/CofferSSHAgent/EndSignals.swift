import CLinux
import CofferFiles
import Glibc

/// The signals that end the agent. They are blocked, and read from a descriptor.
struct EndSignals: ~Copyable {
  private let owned: OwnedDescriptor?
  /// -1 if the process has no descriptor left.
  let descriptor: Int32

  /// Before there is another thread.
  static func block() -> EndSignals {
    var set = ChildProgram.signals([SIGTERM, SIGINT, SIGHUP])
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    let descriptor = unsafe coffer_signalfd(&set)
    return EndSignals(owned: OwnedDescriptor(descriptor), descriptor: descriptor)
  }
}
