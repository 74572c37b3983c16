import CofferRequests
import Foundation
import SystemBench
import Testing

@testable import Coffer

/// The state of `cofferd` once it listens, and its errors if it cannot listen.
@Suite struct DaemonStartTests {
  /// A mount must not stay busy because an agent was started from there.
  @Test(.enabled(if: geteuid() == 0, "only the superuser sees the directory of a process that hides")) func itHoldsNoDirectory()
    throws
  {
    let bench = try DaemonBench()
    #expect(try bench.workingDirectory() == "/")
    // Relative paths from its start still lead to the same files.
    try bench.unlock()
    #expect(try bench.coffer(["secret", "set", "mail/ada"], input: "x").status == 0)
  }

  @Test func aPathThatIsTooLongForASocketIsSaidToBe() throws {
    let longest = "/" + String(repeating: "x", count: 106)
    for (path, isTooLong) in [(longest, false), (longest + "x", true)] {
      do {
        _ = try Keychain.connect(toAgentAt: path).isLocked
        Issue.record("somebody is there")
      } catch let error as KeychainError {
        #expect(error.code == .agent && error.detail.contains("107 bytes") == isTooLong, "\(error)")
      }
    }
  }

  /// As `cofferd-server@.service` starts it: it opens its vault at the start, and again after another process has made new keys.
  @Test func itsOwnCredentialOpensTheVaultAfterNewKeys() throws {
    let bench = try DaemonBench(limits: #"mkdir -p own; cp key own/coffer.key; export CREDENTIALS_DIRECTORY="$PWD/own""#)
    #expect(try bench.coffer(["agent", "status"]).output == "unlocked\n")
    #expect(try bench.coffer(["secret", "set", "mail/ada"], input: "x").status == 0)
    try #require(try bench.coffer(["vault", "rotate", "--force", "--key-file", "key"]).status == 0)
    #expect(try bench.coffer(["secret", "get", "mail/ada"]).output == "x")
    #expect(try bench.coffer(["vault", "lock"]).status == 0)
    try #require(try bench.coffer(["vault", "rotate", "--force", "--key-file", "key"]).status == 0)
    #expect(try bench.coffer(["agent", "status"]).output == "locked\n")
  }

  @Test(
    .enabled(
      if: geteuid() == 0 && !FileManager.default.fileExists(atPath: "/run/coffer/0/agent.sock"),
      "the system's agent of root runs here"))
  func theHintForRootNamesItsUnit() throws {
    let bench = try DaemonBench()
    let process = bench.command(AgentBench.program("coffer").path, ["vault", "status", "--system"])
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 10)
    #expect(
      text
        == "coffer: /run/coffer/0/agent.sock: no agent of the system serves user 0\nhint: as root: systemctl enable --now cofferd@0.socket\n"
    )
  }
}
