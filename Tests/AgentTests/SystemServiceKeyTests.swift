import Foundation
import SystemBench
import Testing
import Waiting

/// An agent of the system that has a key file from its service manager.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason)), .timeLimit(.minutes(60)))
struct SystemServiceKeyTests {
  private let bench: SystemBench
  private var home: String { bench.home.path }
  private var vault: String { bench.state.path + "/vault.coffer" }
  private var credentials: String { bench.directory.path + "/credentials" }
  private var journal: String { bench.directory.path + "/journal" }

  /// A vault with `one` and a backup of it, and then `two`.
  init() throws {
    bench = try SystemBench()
    try shell(
      """
      umask 077; head -c 32 /dev/urandom >key; head -c 32 /dev/urandom >other
      coffer vault init --key-file key --no-passphrase
      printf one | coffer secret set one; coffer vault backup old --key-file key; printf two | coffer secret set two
      """)
    try #require(try names() == ["one", "two"])
    try hand("key")
  }

  @discardableResult private func shell(_ script: String, as user: UInt32? = nil) throws -> Child.Outcome {
    try bench.run("/bin/sh", ["-c", "cd \(home); \(script)"], as: user)
  }

  /// The service manager has this file for the agent from now on.
  private func hand(_ file: String) throws {
    let handed = try shell(
      "mkdir -p \(credentials); install -m 400 -o \(bench.agent) \(file) \(credentials)/coffer.key; chmod 755 \(credentials)",
      as: 0)
    try #require(handed.status == 0, "\(handed)")
  }

  /// Begins anew with what was handed over, after a change of the files.
  private func restart(after change: String = ":") throws {
    bench.stop()
    try #require(try shell(change, as: 0).status == 0)
    try bench.start(under: #"env CREDENTIALS_DIRECTORY=\#(credentials) sh -c 'exec "$@" 2>>\#(journal)' sh"#)
  }

  private func names() throws -> [String] {
    try bench.coffer("secret", "list").lines.map { String($0.prefix { $0 != "\t" }) }.sorted()
  }

  private func state() throws -> String { try bench.coffer("agent", "status", "--system").output }

  private func said() throws -> [String] {
    try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  private static let ways = "hint: coffer vault status, restore, repair and accept-rollback work for a locked vault"

  @Test func itOpensTheVaultAtItsStart() throws {
    try restart()
    #expect(try names() == ["one", "two"])
    #expect(try said() == [])
  }

  @Test func aKeyThatDoesNotFitLeavesItLocked() throws {
    try hand("other")
    try restart()
    #expect(try state() == "locked\n")
    #expect(
      try said() == [
        "cofferd: the vault stays locked: $CREDENTIALS_DIRECTORY: does not open the vault",
        "hint: coffer vault slot list shows which ways in there are",
      ])
    #expect(try bench.coffer("vault", "slot", "list").status == 0)
    #expect(try shell("coffer vault unlock --key-file key").status == 0)
    #expect(try names() == ["one", "two"])
    let log = try bench.coffer("app", "log")
    #expect(
      log.lines.contains { $0.contains("failed") && $0.contains("agent.unlock") && $0.contains("service credential") }, "\(log)")
  }

  @Test func whatIsNoCredentialLeavesItLocked() throws {
    try restart(after: "rm \(credentials)/coffer.key; mkdir \(credentials)/coffer.key")
    #expect(try state() == "locked\n")
    #expect(try said().first?.hasPrefix("cofferd: the vault stays locked: \(credentials)/coffer.key") == true)
  }

  @Test func aDamagedVaultIsRestored() throws {
    try restart(after: "head -c 4096 /dev/urandom | dd of=\(vault) conv=notrunc 2>/dev/null")
    #expect(try state() == "locked\n")
    #expect(try said().first?.hasPrefix("cofferd: the vault stays locked: ") == true)
    #expect(try said().last == Self.ways)
    let restored = try shell("coffer vault restore --user \(bench.user) old --force --key-file key", as: 0)
    #expect(restored.status == 0, "\(restored)")
    // The agent has opened it by itself.
    #expect(try state() == "unlocked\n")
    #expect(try names() == ["one"])
  }

  @Test func aVaultThatWasPutBackIsAccepted() throws {
    try restart(after: "cat old >\(vault); rm -f \(vault)-wal")
    #expect(try state() == "locked\n")
    #expect(try said().first?.hasPrefix("cofferd: the vault stays locked: rolledBack") == true)
    #expect(try said().last == Self.ways)
    let accepted = try shell("coffer vault accept-rollback --force --key-file key")
    #expect(accepted.status == 0, "\(accepted)")
    try restart()
    #expect(try names() == ["one"])
  }

  @Test func newKeysAreNoLockForIt() throws {
    try restart()
    let rotated = try shell("coffer vault rotate --force --key-file key")
    #expect(rotated.status == 0, "\(rotated)")
    #expect(try names() == ["one", "two"])
    // A vault that was locked on request stays locked.
    #expect(try bench.coffer("vault", "lock").status == 0)
    let again = try shell("coffer vault rotate --force --key-file key")
    #expect(again.status == 0, "\(again)")
    #expect(try state() == "locked\n")
    #expect(try said() == [])
  }

  @Test func afterNewKeysThatItDoesNotHaveItStaysLocked() throws {
    try restart()
    try #require(try shell("coffer vault slot add --new-key-file other --key-file key").status == 0)
    try hand("other")
    try restart()
    try #require(try shell("coffer vault slot remove 2 --key-file key").status == 0)
    #expect(try state() == "unlocked\n")
    let rotated = try shell("coffer vault rotate --force --key-file key")
    #expect(rotated.status == 0, "\(rotated)")
    #expect(try state() == "locked\n")
    #expect(try said().first == "cofferd: the vault stays locked: $CREDENTIALS_DIRECTORY: does not open the vault")
    #expect(try said().count == 2)
  }
}
