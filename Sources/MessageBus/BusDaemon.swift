import CLinux
import CSystemd
import CofferFiles
import Glibc

/// Whether the messages of a bus come from a program that its user cannot have changed. A bus of the user's own could name any process
/// for any client.
///
/// The process that listens may be systemd, so the process that writes is what counts. The kernel says which one that is.
enum BusDaemon {
  private static let names: Set<String> = ["dbus-daemon", "dbus-broker"]
  private static let waitMilliseconds: Int32 = 5000

  /// - Parameter bus: Before its first message is read.
  static func isOfSystem(_ bus: OpaquePointer) -> Bool {
    let socket = unsafe sd_bus_get_fd(bus)
    guard socket >= 0, coffer_pass_credentials(socket) == 0, let process = unsafe sender(on: bus, socket),
      let pinned = OwnedDescriptor(coffer_pidfd_open(process)), isOfSystem(process),
      // The same process still writes: the number was its own all the time.
      unsafe sender(on: bus, socket) == process
    else { return false }
    return isAlive(pinned)
  }

  /// Asks for something that each bus answers. The answer is left to sd-bus, which drops it.
  private static func sender(on bus: OpaquePointer, _ socket: Int32) -> Int32? {
    while unsafe sd_bus_process(bus, nil) > 0 {}
    var pointer: OpaquePointer?
    guard
      unsafe sd_bus_message_new_method_call(bus, &pointer, Bus.daemon, "/org/freedesktop/DBus", Bus.daemon, "GetId") >= 0,
      let pointer = unsafe pointer
    else { return nil }
    let question = unsafe Message(owning: pointer)
    guard unsafe sd_bus_send(bus, question.pointer, nil) >= 0, unsafe sd_bus_flush(bus) >= 0 else { return nil }
    var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, waitMilliseconds) == 1 else { return nil }
    let sender = coffer_next_sender(socket)
    return sender > 0 ? sender : nil
  }

  /// A user can run any program by another name, in namespaces of its own too, but cannot make one that root owns.
  private static func isOfSystem(_ process: Int32) -> Bool {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/\(process)/exe", &path, path.count - 1)
    guard count > 0 else { return false }
    path[count] = 0
    var (running, here) = (stat(), stat())
    guard unsafe stat("/proc/\(process)/exe", &running) == 0, unsafe stat(path, &here) == 0,
      running.st_dev == here.st_dev, running.st_ino == here.st_ino
    else { return false }
    let name = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: "/").last
    return running.st_uid == 0 && running.st_mode & S_IFMT == S_IFREG && running.st_mode & (S_IWGRP | S_IWOTH) == 0
      && names.contains(name.map(String.init) ?? "") && userNamespace("\(process)") == userNamespace("self")
  }

  private static func userNamespace(_ process: String) -> UInt64? {
    var status = stat()
    return unsafe stat("/proc/\(process)/ns/user", &status) == 0 ? UInt64(status.st_ino) : nil
  }

  static func isAlive(_ process: borrowing OwnedDescriptor) -> Bool {
    var entry = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) == 0
  }
}
