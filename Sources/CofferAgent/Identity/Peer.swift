import CLinux
import CofferFiles
import Glibc
import Synchronization

/// The process at the other end of a connection, as the kernel knows it.
///
/// The descriptor of the process pins it: when the process ends, its number may be given to another one, and `isAlive` says so.
/// It does not pin the program: a process may become another program at any time, so who it is, is found out for each request
/// anew.
package final class Peer: Sendable {
  package let process: Int32
  package let user: UInt32
  /// Whether the peer is in another PID namespace, whose root can forge SCM_CREDENTIALS: then the sender of a request
  /// proves nothing. A process never leaves its PID namespace.
  private let hasOwnNumbers: Bool
  private let descriptor: OwnedDescriptor
  /// The result of the last look of `Programs` at the program's file.
  let known = Mutex<Programs.Look?>(nil)

  /// The control groups that were read last, and the unit that they name.
  let unit = Mutex<(groups: String, name: String?)?>(nil)

  /// Where the program lies that `Programs` has found, for the log. Empty if it may not be looked at.
  package var programPath: String { path.withLock { $0 } }
  let path = Mutex("")

  package enum Failure: Error, Equatable {
    /// It ended before anything could be found out about it.
    case gone
    case system(Int32)
  }

  /// How the process is pinned.
  package enum Pinning: Sendable {
    /// By the descriptor that the kernel has for the process that connected, since Linux 6.5; else by its number.
    case automatic
    /// As before Linux 6.5.
    case byNumber
  }

  /// - Parameter connection: A connected local socket.
  /// - Throws: `Failure`.
  package init(of connection: Int32, pinning: Pinning = .automatic) throws(Failure) {
    var credentials = coffer_credentials()
    guard unsafe coffer_peer_credentials(connection, &credentials) == 0 else { throw .system(errno) }
    let direct = pinning == .automatic ? OwnedDescriptor(coffer_peer_pidfd(connection)) : nil
    let isOld = pinning == .byNumber || errno == ENOPROTOOPT
    if let direct {
      descriptor = direct
    } else {
      guard isOld, let pinned = Self.pinned(credentials) else {
        throw isOld || errno == ESRCH || errno == EINVAL ? .gone : .system(errno)
      }
      descriptor = pinned
      guard !Self.hasEnded(connection) else { throw .gone }
    }
    process = credentials.process
    user = credentials.user
    hasOwnNumbers = Self.hasOwnNumbers(process)
  }

  /// A process that `coffer-secrets` names.
  /// - Parameter start: As `ProcessStart` has it.
  /// - Throws: `Failure`: `gone` if it has ended, or is another user's.
  package init(process: Int32, start: UInt64, user: UInt32) throws(Failure) {
    guard process > 0, let pinned = Self.pinned(coffer_credentials(process: process, user: user, group: 0)) else { throw .gone }
    descriptor = pinned
    (self.process, self.user) = (process, user)
    hasOwnNumbers = Self.hasOwnNumbers(process)
    guard ProcessStart.ticks(of: process) == start, isAlive else { throw .gone }
  }

  /// The process that has the number now. It is the one that connected if it runs as the same user, and has not begun meanwhile.
  /// If one that has ended has left the connection to a third one, another one of the user may have got its number: the program
  /// of that one counts then, and only a request that was sent after the look, see `SenderProof`.
  /// - Returns: nil if it is another process, or none.
  private static func pinned(_ credentials: coffer_credentials) -> OwnedDescriptor? {
    let before = ProcessStart.ticks(of: credentials.process)
    guard let before, let descriptor = OwnedDescriptor(coffer_pidfd_open(credentials.process)),
      // The effective user is the second.
      let users = line("Uid:", of: credentials.process), users.count > 1, users[1] == "\(credentials.user)",
      ProcessStart.ticks(of: credentials.process) == before
    else { return nil }
    return descriptor
  }

  /// The fields of a line of /proc/PID/status. By bytes: to find characters in it takes longer than to read it.
  private static func line(_ name: String, of process: Int32) -> [Substring]? {
    text("/proc/\(process)/status")?.utf8.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: name.utf8) }?
      .dropFirst(name.utf8.count).split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }.map { Substring($0) }
  }

  /// The file is made for each look, and read at once; what is looked for is at its beginning.
  static func text(_ path: String) -> String? {
    guard let file = OwnedDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC)) else { return nil }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(file.number, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  private static func hasEnded(_ connection: Int32) -> Bool {
    var entry = pollfd(fd: connection, events: 0, revents: 0)
    return unsafe poll(&entry, 1, 0) == 1
  }

  /// Whether the process is in another PID or user namespace than this one; nil if it hides that.
  ///
  /// In a user namespace of its own a process may set what `/proc/PID/exe` opens (PR_SET_MM_MAP). It enters one at any time and
  /// never comes back, so this is looked at after the file.
  /// - Throws: `Failure`: `gone`.
  func isInOtherNamespace() throws(Failure) -> Bool? {
    guard !hasOwnNumbers else { return true }
    let namespace = Self.userNamespace(of: "\(process)")
    // After the look: that number was this process's all the time.
    guard isAlive else { throw .gone }
    return namespace.map { $0 != Self.ownNamespace }
  }

  private static let ownNamespace = userNamespace(of: "self")

  private static func userNamespace(of process: String) -> UInt64? {
    var status = stat()
    return unsafe stat("/proc/\(process)/ns/user", &status) == 0 ? UInt64(status.st_ino) : nil
  }

  private static func hasOwnNumbers(_ process: Int32) -> Bool {
    // The process's numbers, in our namespace and in each below it.
    line("NSpid:", of: process)?.count != 1
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

  /// The present key of the file that `executable` would open. Returns nil if it may not be examined.
  /// - Throws: `Failure`: `gone`.
  func executableKey() throws(Failure) -> FileKey? {
    var status = stat()
    let result = unsafe stat("/proc/\(process)/exe", &status)
    guard isAlive else { throw .gone }
    return result == 0 ? FileKey(status) : nil
  }

  /// Whether the process runs, and hides its program from the agent.
  var isHidden: Bool { do { return try executableKey() == nil } catch { return false } }

  /// Where the file lies that `executableKey` has looked at.
  var executablePath: String { Self.target(of: "/proc/\(process)/exe") }

  /// Where that file lies, for people; as it was opened.
  static func path(of executable: Int32) -> String { target(of: "/proc/self/fd/\(executable)") }

  private static func target(of link: String) -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe readlink(link, $0.baseAddress!, $0.count) }
    return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
  }
}
