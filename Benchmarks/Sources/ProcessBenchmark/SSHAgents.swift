import BenchmarkKit
import Glibc

/// Signatures by an agent for ssh: OpenSSH's, and the one whose keys lie in a vault. Both have the same key, of which no file is left.
struct SSHAgents {
  private let directory: String
  private let script: String
  private let end: String

  /// - Parameter coffer: The program; `coffer-ssh-agent` lies beside it.
  init(_ coffer: String, in directory: String) throws {
    self.directory = "\(directory)/ssh"
    let setUp = "cd '\(self.directory)'; export COFFER_HOME=$PWD/coffer XDG_RUNTIME_DIR=$PWD/run"
    script = """
      set -e; rm -rf '\(self.directory)'; mkdir -m 700 '\(self.directory)'; \(setUp)
      mkdir -m 700 run; umask 077; head -c 32 /dev/urandom >vault.key
      ssh-keygen -q -t ed25519 -N '' -f key
      eval "$(ssh-agent -s -a "$PWD/plain.sock")"; echo $SSH_AGENT_PID >plain.pid; ssh-add -q key
      '\(coffer)' vault init --key-file vault.key --no-passphrase
      '\(coffer)' vault unlock --key-file vault.key
      '\(coffer)' ssh add key
      eval "$('\(coffer)-ssh-agent' -s -a "$PWD/coffer.sock")"; echo $SSH_AGENT_PID >coffer.pid
      rm key
      """
    end = "\(setUp); kill $(cat plain.pid coffer.pid); '\(coffer)' agent stop"
  }

  func tracks() throws -> [Track] {
    try Command(["/bin/sh", "-c", script]).run()
    return [
      track("`ssh-keygen -Y sign`, by `ssh-agent`", "plain.sock"),
      track("`ssh-keygen -Y sign`, by `coffer-ssh-agent`", "coffer.sock"),
    ]
  }

  private func track(_ name: String, _ socket: String) -> Track {
    let environment = Command.inherited.filter { !$0.hasPrefix("SSH_AUTH_SOCK=") } + ["SSH_AUTH_SOCK=\(directory)/\(socket)"]
    return Track(name) { _ in
      Command(["ssh-keygen", "-Y", "sign", "-n", "bench", "-f", "\(directory)/key.pub"], input: "text", environment: environment)
    }
  }

  func stop() throws { try Command(["/bin/sh", "-c", end]).run() }
}
