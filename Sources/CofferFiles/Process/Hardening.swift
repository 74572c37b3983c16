import CLinux
import Glibc

/// Protects the memory of this process from other processes and from core dumps.
package enum Hardening {
  /// The first thing the program does.
  ///
  /// The Swift runtime answers a crash with a backtrace that prints what lies at every register, which may be part of a secret.
  /// With the default actions back in place a crash says nothing. A closed pipe, and a file that may not grow, become errors of
  /// write(2) instead of a silent end.
  package static func begin() {
    fillStandardDescriptors()
    for signal in [SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGQUIT] { coffer_signal_default(signal) }
    for signal in [SIGPIPE, SIGXFSZ] { coffer_signal_ignore(signal) }
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }

  /// A standard descriptor that is closed would be the next file to be opened, such as the vault, and output would end up in
  /// there. The replacement can neither be read nor written.
  private static func fillStandardDescriptors() {
    for (number, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(number, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", mode)
    }
  }

  /// Right before the first key is in memory, and after all files of the caller are open: /dev/fd/N no longer opens after this.
  /// From here on no other process of the same user can read this one's memory.
  package static func hide() {
    _ = coffer_prctl(PR_SET_DUMPABLE, 0)
  }
}
