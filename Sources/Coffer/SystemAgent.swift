internal import CofferStorage
internal import Glibc

/// The agent that keeps a vault where its user's programs cannot reach it: under a user of its own, on a socket that root has
/// made.
package enum SystemAgent {
  /// The socket of this user's system agent.
  package static var socket: String { Places.systemSocket(of: geteuid()) }

  package static var isThere: Bool { unsafe access(socket, F_OK) == 0 }

  /// Whether the system agent is used if no vault is named: if the user has no vault, and the socket exists. `COFFER_HOME`
  /// selects the vault in that directory.
  /// - Throws: `StorageError` if no home directory is known.
  package static func isUsed(environment: (String) -> String?) throws -> Bool {
    guard isThere, (environment("COFFER_HOME") ?? "").isEmpty else { return false }
    let own = try Places(environment: environment).vault
    return unsafe access(own, F_OK) != 0 && errno == ENOENT
  }

  /// Checks that only root can have created the socket, and only root can replace it: another user with that right would receive
  /// passphrases.
  /// - Throws: `agent`.
  static func checkKept(_ path: String) throws(KeychainError) {
    var end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    while let slash = end {
      let directory = slash == path.startIndex ? "/" : String(path[..<slash])
      var status = stat()
      guard unsafe lstat(directory, &status) == 0 else {
        throw KeychainError(.agent, cause: .absentAgent, "\(path): no agent listens there (errno \(errno))")
      }
      guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == 0, status.st_mode & 0o022 == 0 else {
        throw KeychainError(.agent, "\(directory): others than root can write there")
      }
      end = slash == path.startIndex ? nil : path[..<slash].utf8.lastIndex(of: UInt8(ascii: "/"))
    }
  }
}
