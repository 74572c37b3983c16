import CLinux
public import Foundation

/// A socket that root has made, behind which a program of the user passes on what it is told to the agent, and back: so a test in this
/// process asks in the name of that program.
public final class Relay: Sendable {
  public let path: String
  private let process: Child

  /// - Parameter program: `AgentProbe`, or a program that does the same.
  public init(_ program: URL, to bench: SystemBench) throws {
    path = "\(bench.directory.path)/relay-\(UUID().uuidString.prefix(8))"
    let listener = coffer_local_socket()
    // The program alone has the socket then: if it has ended, a connection fails, and no test waits for it.
    defer { close(listener) }
    guard unsafe coffer_local_name(listener, path, 1) == 0, listen(listener, 8) == 0 else {
      throw SystemBench.Failure(what: "\(path): errno \(errno)")
    }
    process = try bench.command(program.path, ["relay", bench.socket], as: bench.user, descriptors: [listener, 2, 2])
  }

  deinit {
    process.end()
    unsafe unlink(path)
  }
}
