internal import CLinux
internal import Glibc

/// The replacement of this program's file while it runs, as by an upgrade. The agent knows programs of Coffer by the files at their
/// paths, so one that stays becomes the new one.
package enum ProgramReplacement {
  /// The path at which this program was started.
  private static let path = ProgramPlaces.own
  /// In milliseconds: an upgrade writes several files, and each with several calls.
  private static let pause: Int32 = 1000
  /// In milliseconds, between two looks without an event. There is none when a directory above is replaced, nor when the directory itself
  /// is deleted: the kernel keeps that one as long as this program runs.
  private static let interval: Int32 = 60_000

  private enum State { case same, missing, replaced }

  /// Calls `tell` on a thread of its own when another file lies at the path of this program, and again after each further one. Does
  /// nothing if the system has no thread left.
  package static func watch(_ tell: @escaping @Sendable () -> Void) {
    guard let path, let directory = ProgramPlaces.ownDirectory else { return }
    let events = FileEvents()
    let kinds = UInt32(
      IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF)
    _ = DetachedThread.start("coffer-upgrade") {
      var entry = pollfd(fd: events.descriptor, events: Int16(POLLIN), revents: 0)
      while true {
        // By its path each time: another directory may lie there by now. The watch of the same one stays as it is.
        _ = events.watch(directory, for: kinds)
        let state = state(of: path)
        let isQuiet = unsafe poll(&entry, 1, state == .same ? interval : pause) == 0
        events.clear()
        guard isQuiet, state == .replaced else { continue }
        tell()
        // The system may have refused the new program. The next event, or the next look, leads here again.
        _ = unsafe poll(&entry, 1, interval)
      }
    }
  }

  private static func state(of path: String) -> State {
    var (own, new) = (stat(), stat())
    guard unsafe stat("/proc/self/exe", &own) == 0 else { return .same }
    guard unsafe stat(path, &new) == 0 else { return .missing }
    let isSame = (own.st_dev, own.st_ino) == (new.st_dev, new.st_ino)
    return unsafe isSame || access(path, X_OK) != 0 ? .same : .replaced
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
    // It is still being written, for example. `watch` calls again.
    Hardening.resume()
  }
}
