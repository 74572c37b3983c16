import CLinux
import Glibc

/// What keeps the memory of this process to itself.
enum Hardening {
  /// The first thing the program does.
  ///
  /// The Swift runtime answers a crash with a backtrace that prints what lies at every register, which may be part of a secret. With
  /// the default actions back in place a crash says nothing. A closed pipe becomes an error of write(2) instead of a silent end.
  static func begin() {
    for signal in [SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGQUIT] { coffer_signal_default(signal) }
    coffer_signal_ignore(SIGPIPE)
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }

  /// Right before the first key is in memory, and after all files of the caller are open: /dev/fd/N no longer opens after this.
  /// From here on no other process of the same user can read this one's memory.
  static func hide() {
    _ = coffer_prctl(PR_SET_DUMPABLE, 0)
  }
}
