import CLinux
import Glibc
import Synchronization
import SystemCalls

/// The process at the other end of a connection, as the kernel knows it.
///
/// The descriptor of the process pins it: when the process ends, its number may be given to another one, and `isAlive` says so. It does
/// not pin the program: a process may become another program at any time, so who it is, is found out for each request anew.
package final class Peer: Sendable {
  package let process: Int32
  package let user: UInt32
  /// Whether it has process numbers of its own. Who rules over those can send in the name of each process that has one: then the
  /// sender of a request says nothing.
  let isElsewhere: Bool
  private let descriptor: OwnedDescriptor
  /// What `Programs` has found, for the file that it has found it for.
  let known = Mutex<(file: FileKey, apps: UInt64, application: String)?>(nil)

  /// Where the program lies that `Programs` has found, for the log. Empty if it may not be looked at.
  package var programPath: String { path.withLock { $0 } }
  let path = Mutex("")

  package enum Failure: Error, Equatable {
    /// It ended before anything could be found out about it.
    case gone
    case system(Int32)
  }

  /// - Parameter connection: A connected local socket.
  /// - Throws: `Failure`.
  package init(of connection: Int32) throws(Failure) {
    var credentials = coffer_credentials()
    guard unsafe coffer_peer_credentials(connection, &credentials) == 0 else { throw .system(errno) }
    var number = coffer_peer_pidfd(connection)
    if number < 0 {
      // Before Linux 6.5 the number has to do. Where the process has ended by now, and another one has its number, that one is seen: its
      // user is compared, and its program counts, not that of the one that is gone.
      number = coffer_pidfd_open(credentials.process)
    }
    guard let descriptor = OwnedDescriptor(number) else { throw errno == ESRCH ? .gone : .system(errno) }
    process = credentials.process
    user = credentials.user
    self.descriptor = descriptor
    isElsewhere = Self.isElsewhere(process)
  }

  /// A process stays in the namespace in which it began. Where that cannot be seen, it is another one.
  private static func isElsewhere(_ process: Int32) -> Bool {
    guard let file = OwnedDescriptor(unsafe open("/proc/\(process)/status", O_RDONLY | O_CLOEXEC)) else { return true }
    // The file is made for each look, and read at once; the line is within its first lines.
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(file.number, &buffer, buffer.count)
    let lines = buffer.prefix(max(0, count)).split(separator: UInt8(ascii: "\n"))
    // The process's numbers, in our namespace and in each below it.
    guard let line = lines.first(where: { $0.starts(with: "NSpid:".utf8) }) else { return true }
    return line.split(whereSeparator: { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }).count != 2
  }

  package var isAlive: Bool {
    var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) == 0
  }

  /// The file of the program that the process runs now: what the kernel runs, not what lies at its path.
  /// - Returns: nil if it may not be read: a process that hides itself.
  /// - Throws: `Failure`: `gone`.
  func executable() throws(Failure) -> OwnedDescriptor? {
    let opened = OwnedDescriptor(unsafe open("/proc/\(process)/exe", O_RDONLY | O_CLOEXEC))
    let number = errno
    // After the look: that number was this process's all the time.
    guard isAlive else { throw .gone }
    guard let opened else {
      guard number == EACCES || number == EPERM else { throw number == ENOENT ? .gone : .system(number) }
      return nil
    }
    return opened
  }

  /// What `executable` would open, as it is now. Nil where that may not be looked at.
  /// - Throws: `Failure`: `gone`.
  func executableKey() throws(Failure) -> FileKey? {
    var status = stat()
    let result = unsafe stat("/proc/\(process)/exe", &status)
    guard isAlive else { throw .gone }
    return result == 0 ? FileKey(status) : nil
  }

  /// Where that file lies, for people; as it was opened.
  static func path(of executable: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/fd/\(executable)", &buffer, buffer.count)
    return String(decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
