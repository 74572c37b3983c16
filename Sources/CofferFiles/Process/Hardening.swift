import CLinux
import Glibc

/// Protects the memory of this process from other processes and from core dumps.
package enum Hardening {
  /// The changes of `begin`, for a program that this process starts or becomes.
  private struct Before {
    var ignored: [Int32] = []
    var closed: [Int32] = []
    var coreLimit: rlimit?
  }

  /// Written once, by `begin`, before there is another thread.
  private nonisolated(unsafe) static var before = Before()

  /// The first thing the program does.
  ///
  /// The Swift runtime answers a crash with a backtrace that prints what lies at every register, which may be part of a secret.
  /// With the default actions back in place a crash says nothing. A closed pipe, and a file that may not grow, become errors of
  /// write(2) instead of a silent end.
  ///
  /// - Parameter startsPrograms: Whether this process starts or becomes other programs. Then the higher limit of core dumps stays, which
  ///   could not be raised again for them; the lower one, which counts, is 0 in either case.
  package static func begin(startsPrograms: Bool = false) {
    fillStandardDescriptors()
    unsafe before.ignored = (crashes + errors).filter { coffer_signal_is_ignored($0) != 0 }
    for signal in crashes { coffer_signal_default(signal) }
    var limit = rlimit()
    if unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 { unsafe before.coreLimit = limit }
    protect(startsPrograms: startsPrograms)
  }

  private static func protect(startsPrograms: Bool) {
    for signal in errors { coffer_signal_ignore(signal) }
    guard var limit = unsafe before.coreLimit else { return }
    limit.rlim_cur = 0
    if !startsPrograms { limit.rlim_max = 0 }
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
  }

  /// After `end`, if this process has not become another program.
  static func resume() { protect(startsPrograms: true) }

  private static let crashes = [SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGQUIT]
  private static let errors = [SIGPIPE, SIGXFSZ]

  /// Right before this process becomes another program, which then finds what this one has found: the signals that are ignored, the
  /// limit of core dumps, and standard descriptors that are closed.
  package static func end() {
    for signal in crashes + errors { coffer_signal_default(signal) }
    for signal in unsafe before.ignored { coffer_signal_ignore(signal) }
    if var limit = unsafe before.coreLimit {
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
    for number in unsafe before.closed { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
  }

  /// A standard descriptor that was closed has got a file, which a program that this process becomes is to have.
  package static func keep(_ number: Int32) { unsafe before.closed.removeAll { $0 == number } }

  /// A standard descriptor that is closed would be the next file to be opened, such as the vault, and output would end up in
  /// there. The replacement can neither be read nor written.
  private static func fillStandardDescriptors() {
    for (number, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(number, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", mode)
      unsafe before.closed.append(number)
    }
  }

  /// Right before the first key is in memory, and after all files of the caller are open: /dev/fd/N no longer opens after this.
  /// From here on no other process of the same user can read this one's memory.
  package static func hide() {
    _ = coffer_prctl(PR_SET_DUMPABLE, 0)
  }

  package static var isHidden: Bool { coffer_prctl(PR_GET_DUMPABLE, 0) == 0 }

  /// Ends the effect of `hide`, for as long as an agent of the same user must see which program this is.
  package static func show() {
    _ = coffer_prctl(PR_SET_DUMPABLE, 1)
  }
}
