import CLinux
import Glibc

/// The socket that a service manager has made and listens on until the agent is there: sd_listen_fds(3).
///
/// So the socket belongs to whom the service manager says, in a directory that is root's, and no connection is lost while the
/// agent starts.
package enum ListeningSocket {
  package enum Failure: Error, Equatable {
    /// More or fewer than one, or something else than a local socket that listens.
    case unfit(String)
  }

  private static let first: Int32 = 3

  /// - Parameter environment: The value of a variable.
  /// - Returns: nil if this process inherited none.
  /// - Throws: `Failure`.
  package static func inherited(environment: (String) -> String?) throws(Failure) -> Int32? {
    // A variable that was left over from a parent speaks of its descriptors.
    guard let process = environment("LISTEN_PID"), process == "\(getpid())" else { return nil }
    guard environment("LISTEN_FDS") == "1" else { throw .unfit("LISTEN_FDS is not 1") }
    guard fcntl(first, F_SETFD, FD_CLOEXEC) == 0 else { throw .unfit("descriptor 3 is closed") }
    guard option(SO_DOMAIN) == AF_UNIX, option(SO_TYPE) == Int32(SOCK_STREAM.rawValue), option(SO_ACCEPTCONN) == 1 else {
      throw .unfit("descriptor 3 is not a local socket that listens")
    }
    // Connections have it from here; what was sent before it was set bears its sender all the same.
    guard coffer_pass_credentials(first) == 0 else { throw .unfit("errno \(errno)") }
    return first
  }

  private static func option(_ name: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(first, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
  }
}
