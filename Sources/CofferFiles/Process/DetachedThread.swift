import CLinux
import Glibc

/// A thread that is not waited for. All signals go to the other threads of the program.
package enum DetachedThread {
  private final class Body {
    let name: String
    let run: @Sendable () -> Void
    init(_ name: String, _ run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
  }

  /// - Returns: Whether the system had a thread.
  package static func start(_ name: String, _ run: @escaping @Sendable () -> Void) -> Bool {
    make(name, state: PTHREAD_CREATE_DETACHED, run) != nil
  }

  static func make(_ name: String, state: Int, _ run: @escaping @Sendable () -> Void) -> pthread_t? {
    let body = unsafe Unmanaged.passRetained(Body(name, run))
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, Int32(state))
    // A thousand of them are not to need 8 GiB of address space.
    unsafe pthread_attr_setstacksize(&attributes, 512 << 10)
    var all = sigset_t()
    var old = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument = unsafe argument else { return nil }
        let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        unsafe coffer_name_thread(body.name)
        body.run()
        return nil
      }, body.toOpaque())
    unsafe pthread_sigmask(SIG_SETMASK, &old, nil)
    if result != 0 { unsafe body.release() }
    return result == 0 ? thread : nil
  }
}
