import Glibc
import Testing

private let regress = "/usr/lib/openssh/regress"

private let isThere = ["\(regress)/test-exec.sh", "/usr/bin/ssh-agent", "/usr/sbin/sshd"].allSatisfy { (path: String) in
  unsafe access(path, R_OK) == 0
}

/// OpenSSH's own tests of its agent, as Debian packs them, with `coffer-ssh-agent` in its place.
@Suite(.enabled(if: isThere, "takes openssh-tests"), .timeLimit(.minutes(60))) struct OpenSSHTests {
  /// An agent starts at a socket of its own, as `ssh-agent` does: `agent` starts two.
  private static let agent = #"""
    #!/bin/sh
    echo "$*" >>"$W/started"
    case "$*" in *-a* | *-k*) ;; *-s*) set -- -a "$(mktemp -u "$W/socket.XXXXXX")" "$@" ;; esac
    exec coffer-ssh-agent "$@"
    """#

  @Test(arguments: ["agent", "agent-restrict", "agent-subprocess", "agent-timeout", "hostkey-agent"])
  func passes(test: String) throws {
    let outcome = try Workspace().run(
      script: """
        exec 2>&1; cp -a \(regress) regress; [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
        cat >agent <<'X'; chmod +x agent
        \(Self.agent)
        X
        d=$W/regress; make -s -C $d .OBJDIR=$d .CURDIR=$d BUILDDIR=$d OBJ=$d SUDO= TEST_SHELL=sh TEST_SSH_SSH=ssh \\
          TEST_SSH_SSHD=/usr/sbin/sshd TEST_SSH_ECC=yes \\
          TEST_SSH_SFTPSERVER=/usr/lib/openssh/sftp-server TEST_SSH_UNSAFE_PERMISSIONS=1 TEST_SSH_SSHAGENT=$W/agent LTESTS=\(test) t-exec
        echo "status $?"; [ -s started ] || echo "no agent"
        """)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.last == "status 0" && lines.contains { $0.hasPrefix("ok ") }, "\(outcome.output)")
  }
}
