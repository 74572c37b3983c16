import CSystemd
import Glibc

/// The connection to logind on the system's message bus. Not thread-safe.
@safe final class SystemBus {
  struct Failure: Error {
    let what: String
    let number: Int32
  }

  private static let service = "org.freedesktop.login1"
  private static let manager = "/org/freedesktop/login1"
  private static let managerInterface = "org.freedesktop.login1.Manager"
  private static let sessionInterface = "org.freedesktop.login1.Session"

  private let bus: OpaquePointer
  /// Called with true before the machine sleeps, and with false after it has woken up.
  var onSleep: ((Bool) -> Void)?
  /// Called with the path of a session that is to be locked.
  var onLock: ((String) -> Void)?

  /// - Throws: An error if there is no system bus.
  init() throws(Failure) {
    var bus: OpaquePointer?
    try Self.check(unsafe sd_bus_open_system(&bus), "the system bus")
    guard let bus = unsafe bus else { throw Failure(what: "the system bus", number: EIO) }
    unsafe self.bus = unsafe bus
  }

  deinit { unsafe sd_bus_flush_close_unref(bus) }

  @discardableResult private static func check(_ result: Int32, _ what: String) throws(Failure) -> Int32 {
    guard result >= 0 else { throw Failure(what: what, number: -result) }
    return result
  }

  // MARK: Signals

  /// Accepts only signals of logind itself: any program may send signals with these names.
  func subscribe() throws(Failure) {
    let object = unsafe Unmanaged.passUnretained(self).toOpaque()
    try Self.check(
      unsafe sd_bus_match_signal(
        bus, nil, Self.service, Self.manager, Self.managerInterface, "PrepareForSleep",
        { message, object, _ in
          var isBeginning: Int32 = 0
          guard let object = unsafe object, unsafe sd_bus_message_read_basic(message, CChar(UInt8(ascii: "b")), &isBeginning) > 0
          else { return 0 }
          unsafe Unmanaged<SystemBus>.fromOpaque(object).takeUnretainedValue().onSleep?(isBeginning != 0)
          return 0
        }, object), "PrepareForSleep")
    try Self.check(
      unsafe sd_bus_match_signal(
        bus, nil, Self.service, nil, Self.sessionInterface, "Lock",
        { message, object, _ in
          guard let object = unsafe object, let path = unsafe sd_bus_message_get_path(message) else { return 0 }
          unsafe Unmanaged<SystemBus>.fromOpaque(object).takeUnretainedValue().onLock?(String(cString: path))
          return 0
        }, object), "Lock")
  }

  /// Waits for a message on the bus or an event of `descriptor`, and calls `onSleep` and `onLock` for messages.
  /// - Returns: Whether there was an event of the descriptor.
  func wait(with descriptor: Int32) throws(Failure) -> Bool {
    while try Self.check(unsafe sd_bus_process(bus, nil), "the system bus") > 0 {}
    var microseconds: UInt64 = .max
    try Self.check(unsafe sd_bus_get_timeout(bus, &microseconds), "the system bus")
    var entries = [
      pollfd(fd: unsafe sd_bus_get_fd(bus), events: Int16(truncatingIfNeeded: unsafe sd_bus_get_events(bus)), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    // The timeout is a point in time of the bus's clock, not a duration. Polling once a second is sufficient for any timeout.
    _ = unsafe poll(&entries, 2, microseconds == .max ? -1 : 1000)
    return entries[1].revents != 0
  }

  // MARK: Calls

  /// Delays sleep until the descriptor is closed, at most for logind's `InhibitDelayMaxSec`: five seconds by default.
  /// - Returns: A descriptor.
  func delaySleep() throws(Failure) -> Int32 {
    let call = unsafe try method(Self.manager, Self.managerInterface, "Inhibit")
    defer { _ = unsafe sd_bus_message_unref(call) }
    for text in ["sleep", "coffer", "the keychain is locked before", "delay"] { unsafe try append(text, to: call) }
    let reply = unsafe try ask(call, "Inhibit")
    defer { _ = unsafe sd_bus_message_unref(reply) }
    var descriptor: Int32 = -1
    try Self.check(unsafe sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "h")), &descriptor), "Inhibit")
    // The message's descriptor is closed with it.
    let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard own >= 0 else { throw Failure(what: "Inhibit", number: errno) }
    return own
  }

  /// The user of a session.
  func user(ofSession path: String) throws(Failure) -> UInt32 {
    let call = unsafe try method(path, "org.freedesktop.DBus.Properties", "Get")
    defer { _ = unsafe sd_bus_message_unref(call) }
    for text in [Self.sessionInterface, "User"] { unsafe try append(text, to: call) }
    let reply = unsafe try ask(call, "Get")
    defer { _ = unsafe sd_bus_message_unref(reply) }
    try Self.check(unsafe sd_bus_message_enter_container(reply, CChar(UInt8(ascii: "v")), "(uo)"), "User")
    try Self.check(unsafe sd_bus_message_enter_container(reply, CChar(UInt8(ascii: "r")), "uo"), "User")
    var user: UInt32 = 0
    try Self.check(unsafe sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "u")), &user), "User")
    return user
  }

  private func method(_ path: String, _ interface: String, _ member: String) throws(Failure) -> OpaquePointer {
    var message: OpaquePointer?
    try Self.check(unsafe sd_bus_message_new_method_call(bus, &message, Self.service, path, interface, member), member)
    guard let message = unsafe message else { throw Failure(what: member, number: ENOMEM) }
    return unsafe message
  }

  private func append(_ text: String, to message: OpaquePointer) throws(Failure) {
    let result = unsafe text.withCString { unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "s")), $0) }
    try Self.check(result, text)
  }

  private func ask(_ message: OpaquePointer, _ what: String) throws(Failure) -> OpaquePointer {
    var reply: OpaquePointer?
    // In microseconds: ten seconds, because the bus may have to start logind, and no person is waiting.
    try Self.check(unsafe sd_bus_call(bus, message, 10_000_000, nil, &reply), what)
    guard let reply = unsafe reply else { throw Failure(what: what, number: EIO) }
    return unsafe reply
  }
}
