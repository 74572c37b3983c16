import Glibc
import Testing

/// Swift has an empty list of arguments where it cannot read /proc/self/maps. A program that takes this for a request to print help reports
/// success, and nothing was done.
@Suite struct ArgumentTests {
  @Test(.enabled(if: geteuid() == 0, "takes a mount of its own"))
  func noProgramTakesArgumentsThatCannotBeReadForNone() throws {
    let workspace = try Workspace()
    let outcome = try workspace.run(
      script: """
        umask 077; head -c 32 /dev/urandom >key
        ln -s "$(command -v coffer)" defaults; ln -s "$(command -v coffer)" git-credential-coffer
        coffer vault init --key-file key --no-passphrase; printf s >s
        cat >script <<'SCRIPT'
        mount -t tmpfs none /proc
        for call in "coffer set m/a --no-agent --key-file key --file s" "./defaults read x" "./git-credential-coffer get" \\
          "cofferd --version" "coffer-sync now" "coffer-secrets --help" "coffer-ssh-agent --help" "coffer-logind socket 0"; do
          timeout 20 $call </dev/null; echo $?
        done
        SCRIPT
        unshare -m --propagation private sh script
        """)
    let names = [
      "coffer", "defaults", "git-credential-coffer", "cofferd", "coffer-sync", "coffer-secrets", "coffer-ssh-agent",
      "coffer-logind",
    ]
    #expect(outcome.output == names.map { _ in "1\n" }.joined(), "\(outcome.output)")
    let errors = names.map { "\($0): its arguments cannot be read from /proc: is it mounted?\n" }.joined()
    #expect(outcome.errors == errors, "\(outcome.errors)")
  }
}
