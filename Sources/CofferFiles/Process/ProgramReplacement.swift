internal import CLinux
internal import Glibc

/// The replacement of this program's file while it runs, as by an upgrade. The agent knows programs of Coffer by the files at their
/// paths, so one that stays becomes the new one.
package enum ProgramReplacement {
  /// The path at which this program was started.
  private static let path = ProgramPlaces.own
  /// In milliseconds: an upgrade writes several files, and each with several calls.
  private static let pause: Int32 = 1000

  /// Calls `tell` on a thread of its own when another file lies at the path of this program, and again after each further one. Does
  /// nothing if the system has no inotify instance or no thread left.
  package static func watch(_ tell: @escaping @Sendable () -> Void) {
    let events = FileEvents()
    let kinds = UInt32(IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB)
    guard let path, let directory = ProgramPlaces.ownDirectory, events.descriptor >= 0, events.watch(directory, for: kinds) >= 0
    else { return }
    _ = DetachedThread.start("coffer-upgrade") {
      var hasEvent = true
      while true {
        var entry = pollfd(fd: events.descriptor, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&entry, 1, hasEvent ? pause : -1) == 0 {
          hasEvent = false
          if isReplaced(path) { tell() }
        } else {
          hasEvent = true
          events.clear()
        }
      }
    }
  }

  private static func isReplaced(_ path: String) -> Bool {
    var (own, new) = (stat(), stat())
    guard unsafe stat("/proc/self/exe", &own) == 0, unsafe stat(path, &new) == 0 else { return false }
    return unsafe (own.st_dev, own.st_ino) != (new.st_dev, new.st_ino) && access(path, X_OK) == 0
  }

  /// This process becomes the program at its path. Returns if the system refuses.
  /// - Parameter arguments: Those after the name.
  package static func become(_ arguments: [String]) {
    guard let path else { return }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
    Hardening.end()
    _ = unsafe CStrings.lend([path] + arguments) { unsafe execv(path, $0) }
    // It is still being written, for example. The next event leads here again.
    Hardening.resume()
  }
}
