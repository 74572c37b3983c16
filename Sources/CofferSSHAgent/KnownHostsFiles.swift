import CofferFiles
import Glibc
import SSHAgentProtocol

/// The files in which ssh looks for the keys of hosts, unless its configuration names others.
enum KnownHostsFiles {
  private static let limit = 4 << 20

  static func name(ofHostWith key: [UInt8]) -> String? {
    let own = Environment["HOME"].map { "\($0)/.ssh/known_hosts" }
    for path in [own, "/etc/ssh/ssh_known_hosts"].compactMap({ $0 }) {
      guard let directory = try? OpenDirectory.foreign(Path.parent(of: path)),
        let name = try? FileName(Path.name(of: path)), let text = try? directory.contents(name, limit: limit)
      else { continue }
      if let host = KnownHosts.name(ofHostWith: key, in: text) { return host }
    }
    return nil
  }
}
