import CLinux
import Glibc

/// The sockets that a service manager has made and listens on until the agent is there: sd_listen_fds(3).
///
/// So a socket belongs to the user that the service manager says, in a directory that is root's, and no connection is lost while the
/// agent starts.
package struct ListeningSockets: Equatable {
  /// For the agent's clients.
  package let agent: Int32
  /// For the service manager; nil if none of this name was handed over. See `CredentialServer`.
  package let credentials: Int32?

  package enum Failure: Error, Equatable {
    /// More or fewer than these, or something else than local sockets that listen.
    case unfit(String)
  }

  private static let first: Int32 = 3
  /// `FileDescriptorName=` in the unit of that socket.
  private static let credentialsName = "credentials"

  /// - Parameter environment: The value of a variable.
  /// - Returns: nil if this process inherited none.
  /// - Throws: `Failure`.
  package static func inherited(environment: (String) -> String?) throws(Failure) -> ListeningSockets? {
    // A variable that was left over from a parent speaks of its descriptors.
    guard let process = environment("LISTEN_PID"), process == "\(getpid())" else { return nil }
    let names = (environment("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
    let count: Int32
    switch environment("LISTEN_FDS") {
    case "1": count = 1
    case "2" where names.count == 2: count = 2
    default: throw .unfit("LISTEN_FDS is not 1, or 2 with a name for each")
    }
    let credentials = (0..<count).filter { names.indices.contains(Int($0)) && names[Int($0)] == credentialsName }
    guard credentials.count == count - 1 else { throw .unfit("LISTEN_FDNAMES: all but one must be \(credentialsName)") }
    for index in 0..<count { try check(first + index) }
    let agent: Int32 = credentials == [0] ? 1 : 0
    return ListeningSockets(agent: first + agent, credentials: credentials.first.map { first + $0 })
  }

  private static func check(_ descriptor: Int32) throws(Failure) {
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw .unfit("descriptor \(descriptor) is closed") }
    guard option(SO_DOMAIN, descriptor) == AF_UNIX, option(SO_TYPE, descriptor) == Int32(SOCK_STREAM.rawValue),
      option(SO_ACCEPTCONN, descriptor) == 1
    else { throw .unfit("descriptor \(descriptor) is not a local socket that listens") }
    // Connections have it from here; what was sent before it was set bears its sender all the same.
    guard coffer_pass_credentials(descriptor) == 0 else { throw .unfit("errno \(errno)") }
  }

  private static func option(_ name: Int32, _ descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
  }
}
