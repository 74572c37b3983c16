import CSystemd
import Glibc

/// Questions to the daemon of the bus.
extension Bus {
  /// The process that has a name; nil if there is none. A program that the bus could start is not started.
  package func owner(of name: String) throws(Failure) -> Int32? {
    var credentials: OpaquePointer?
    let result = unsafe sd_bus_get_name_creds(bus, name, UInt64(SD_BUS_CREDS_PID), &credentials)
    guard result != -ENXIO else { return nil }
    try Self.check(result, name)
    defer { unsafe sd_bus_creds_unref(credentials) }
    var process: pid_t = 0
    try Self.check(unsafe sd_bus_creds_get_pid(credentials, &process), name)
    return process
  }

  /// Has the daemon read the files of its services again.
  package func readServices() throws(Failure) {
    var pointer: OpaquePointer?
    try Self.check(
      unsafe sd_bus_message_new_method_call(bus, &pointer, Self.daemon, "/org/freedesktop/DBus", Self.daemon, "ReloadConfig"),
      "ReloadConfig")
    guard let pointer = unsafe pointer else { throw Failure(what: "ReloadConfig", number: EIO) }
    let call = unsafe Message(owning: pointer)
    try Self.check(unsafe sd_bus_call(bus, call.pointer, 0, nil, nil), "ReloadConfig")
  }
}
