import Foundation
import SystemBench
import Testing
import Waiting

/// A backup is put in the place of the vault of the system's agent, by the command of its user or of root.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason)), .timeLimit(.minutes(60)))
struct SystemRestoreTests {
  private let bench: SystemBench
  private var key: String { bench.home.path + "/key" }
  private var other: String { bench.home.path + "/other" }

  /// A vault with `one` and `two`, a backup of it in the agent's directory and one in `old`, and then `three`.
  init() throws {
    bench = try SystemBench()
    try shell("umask 077; head -c 32 /dev/urandom >\(key); head -c 32 /dev/urandom >\(other)")
    let initialized = try coffer("vault", "init", "--key-file", key, "--no-passphrase")
    try #require(initialized.status == 0, "\(initialized)")
    try set("one", "two")
    let made = try coffer("vault", "backup", "--key-file", key)
    try #require(made.status == 0, "\(made)")
    let copied = try coffer("vault", "backup", old, "--key-file", key)
    try #require(copied.status == 0, "\(copied)")
    try set("three")
  }

  private var old: String { bench.home.path + "/old" }
  private var vault: String { bench.state.path + "/vault.coffer" }

  private func coffer(_ arguments: String..., as user: UInt32? = nil) throws -> Child.Outcome {
    try bench.run(bench.programs.appending(path: "coffer").path, arguments, as: user)
  }

  @discardableResult private func shell(_ script: String, as user: UInt32? = nil) throws -> Child.Outcome {
    try bench.run("/bin/sh", ["-c", script], as: user)
  }

  private func set(_ names: String...) throws {
    for name in names { try #require(try bench.coffer("secret", "set", name, input: name).status == 0) }
  }

  private func items() throws -> [String] {
    try bench.coffer("secret", "list").lines.map { String($0.prefix { $0 != "\t" }) }.sorted()
  }

  private func unlock(with key: String? = nil) throws {
    let unlocked = try coffer("vault", "unlock", "--key-file", key ?? self.key)
    try #require(unlocked.status == 0, "\(unlocked)")
  }

  /// Files of restores that did not end.
  private func leftovers() throws -> [String] {
    try shell("ls -A \(bench.state.path) \(bench.state.path)/backups | grep '[.]new$'", as: 0).lines
  }

  private func expectItems(_ expected: [String]) throws { #expect(try items() == expected) }

  private func expectOneCopy() throws { #expect(try leftovers().count == 1) }

  // MARK: The owner

  @Test func theOwnerRestoresTheNewestBackup() throws {
    let trial = try coffer("vault", "restore", "--dry-run", "--key-file", key)
    #expect(trial.status == 0 && trial.lines.count == 3, "\(trial)")
    #expect(trial.lines.first?.hasPrefix(bench.state.path + "/backups/") ?? false, "\(trial)")
    #expect(trial.lines.dropFirst().first == "here: generation 4; 1 item is only here", "\(trial)")
    #expect(try items() == ["one", "three", "two"])
    #expect(FileManager.default.fileExists(atPath: bench.state.path + "/state/restore-checked"))
    let declined = try coffer("vault", "restore", "--key-file", key)
    #expect(declined.status == 5 && declined.errors.contains("a person must agree"), "\(declined)")
    let restored = try coffer("vault", "restore", "--force", "--key-file", key)
    #expect(restored.status == 0 && restored.lines.last == "the system's vault: restored, generation 5", "\(restored)")
    #expect(restored.errors.contains("-g4-before-restore.coffer"), "\(restored)")
    // The agent goes on with the vault, unlocked as it was.
    #expect(try items() == ["one", "two"])
    try set("four")
    #expect(try coffer("vault", "verify", "--key-file", key).output == "4 records, all sound\n")
    let json = try coffer("vault", "restore", "--force", "--json", "--key-file", key)
    #expect(json.status == 0 && json.output.contains(#""way":"continuing","otherVault":false,"here":6"#), "\(json)")
    #expect(try leftovers() == [])
    #expect(try bench.coffer("app", "log").lines.contains { $0.contains("agent.restoreVault") })
  }

  @Test func aFileIsHandedOn() throws {
    #expect(try bench.coffer("vault", "lock").status == 0)
    let restored = try coffer("vault", "restore", old, "--force", "--key-file", key)
    #expect(restored.status == 0 && restored.lines.first == "\(old): generation 3, 3 records, all sound", "\(restored)")
    // It was locked, and is.
    #expect(try bench.coffer("agent", "status", "--system").lines == ["locked"])
    try unlock()
    #expect(try items() == ["one", "two"])
  }

  @Test func nothingIsDoneWithoutAProofOfTheOwner() throws {
    for arguments in [["vault", "restore", "--force"], ["vault", "restore", "--force", "--key-file", other]] {
      let refused = try bench.run(bench.programs.appending(path: "coffer").path, arguments)
      #expect([5, 7].contains(refused.status), "\(refused)")
    }
    // A key file of a vault that has a passphrase too is there for programs.
    try shell("umask 077; echo 'correct horse' >\(bench.home.path)/words")
    let added = try shell("coffer vault slot add --low-memory --key-file \(key) --new-passphrase-fd 3 3<\(bench.home.path)/words")
    try #require(added.status == 0, "\(added)")
    let refused = try coffer("vault", "restore", "--force", "--key-file", key)
    #expect(refused.status == 6, "\(refused)")
    let owner = try shell("coffer vault restore --force --passphrase-fd 3 3<\(bench.home.path)/words")
    // The backup was made before: it opens with the key file alone, which nobody can be asked for here.
    #expect(
      owner.status == 5 && owner.errors.contains("the newest backup: does not open with the credential of the vault"), "\(owner)")
    #expect(try items() == ["one", "three", "two"])
    #expect(try leftovers() == [])
  }

  @Test func whatIsNoBackupChangesNothing() throws {
    try shell(
      """
      cd \(bench.home.path); umask 077
      head -c 10000 old >cut; echo text >text; mkdir directory; ln -s old link; : >empty
      cp old newer; sqlite3 newer 'PRAGMA user_version=2'
      cp old damaged; sqlite3 damaged "UPDATE rec SET s=zeroblob(length(s)) WHERE hex(id)>='01'"
      cp old logged; echo log >logged-wal
      cp old large; truncate -s 70000000000 large
      coffer vault init --vault foreign --key-file other --no-passphrase
      """)
    let expected: [(String, Int32, String)] = [
      ("cut", 9, "the file is damaged"), ("text", 9, "is not a vault"), ("directory", 9, "is not a vault"),
      ("empty", 9, "is not a vault"), ("newer", 1, "has a format"), ("damaged", 9, "problems"),
      ("logged", 1, "its latest changes lie in another file"), ("large", 9, "is larger than 64 GiB"),
      ("missing", 3, "does not exist"), ("foreign", 5, "does not open with the credential"),
    ]
    for (name, status, words) in expected {
      let refused = try coffer("vault", "restore", "\(bench.home.path)/\(name)", "--force", "--key-file", key)
      #expect(refused.status == status, "\(name): \(refused)")
      #expect(
        refused.errors.hasPrefix("coffer: \(bench.home.path)/\(name): ") && refused.errors.contains(words), "\(name): \(refused)")
    }
    #expect(try coffer("vault", "restore", "\(bench.home.path)/link", "--force", "--key-file", key).status != 0)
    #expect(try items() == ["one", "three", "two"])
    #expect(try leftovers() == [])
  }

  // MARK: Between the plan and the answer

  @Test func aVaultThatIsWrittenMeanwhileIsShownAgain() throws {
    let restored = try bench.atTerminal(
      "exec coffer vault restore \(old) --key-file \(key)", between: { try set("between") }, answers: "yy")
    #expect(restored.status == 0, "\(restored)")
    #expect(restored.output.contains("1 item is only here") && restored.output.contains("2 items are only here"), "\(restored)")
    #expect(try items() == ["one", "two"])
    let kept = try shell("ls \(bench.state.path)/backups | grep -c before-restore", as: 0)
    #expect(kept.output == "1\n")
    // A no ends it, and other programs use the vault while the person thinks.
    try set("more")
    let declined = try bench.atTerminal(
      "exec coffer vault restore \(old) --key-file \(key)", between: { try expectItems(["more", "one", "two"]) },
      answers: "n")
    #expect(declined.status == 8 && declined.output.contains("cancelled: nothing has been changed"), "\(declined)")
    #expect(try items() == ["more", "one", "two"])
  }

  /// The credential that was proven at the beginning has been taken away since, as one that has leaked.
  @Test func theOwnerIsProvenAgainBeforeTheChange() throws {
    let restored = try bench.atTerminal(
      "exec coffer vault restore \(old) --key-file \(key)",
      between: {
        let replaced = try shell(
          "coffer vault slot add --new-key-file \(other) --key-file \(key) && coffer vault slot remove 1 --force --key-file \(key)"
        )
        try #require(replaced.status == 0, "\(replaced)")
      }, answers: "yy")
    #expect(restored.status == 7 && restored.output.contains("wrong passphrase"), "\(restored)")
    #expect(try items() == ["one", "three", "two"])
    #expect(try coffer("vault", "verify", "--key-file", key).status == 7)
    #expect(try coffer("vault", "verify", "--key-file", other).status == 0)
    #expect(try leftovers() == [])
  }

  /// The yes was on its way: the command cannot tell whether the agent has acted on it.
  @Test func anAgentThatIsLostAtTheQuestionLeavesADoubt() throws {
    let lost = try bench.atTerminal(
      "exec coffer vault restore \(old) --key-file \(key)",
      between: {
        bench.stop()
        try bench.start()
      }, answers: "y")
    #expect(lost.status == 12 && lost.output.contains("it is not known whether the change was made"), "\(lost)")
    #expect(lost.output.contains("hint: the vault is the one before, or that of the backup"), "\(lost)")
    #expect(try coffer("vault", "unlock", "--key-file", key).status == 0)
    #expect(try items() == ["one", "three", "two"])
  }

  @Test func aClientThatGoesAwayLeavesNothing() throws {
    let gone = try bench.atTerminal(
      "exec coffer vault restore \(old) --key-file \(key)", between: { try expectOneCopy() }, answers: "k")
    #expect(gone.status == 247, "\(gone)")
    try wait(for: "the copy is gone") { try leftovers() == [] }
    #expect(try items() == ["one", "three", "two"])
    #expect(try coffer("vault", "restore", old, "--force", "--key-file", key).status == 0)
    #expect(try items() == ["one", "two"])
  }

  // MARK: Another vault, or none

  @Test func afterAnotherVaultTheAgentIsLocked() throws {
    try shell("umask 077; coffer vault init --vault \(bench.home.path)/foreign --key-file \(key) --no-passphrase")
    let refused = try coffer("vault", "restore", "\(bench.home.path)/foreign", "--force", "--key-file", key)
    #expect(refused.status == 6 && refused.errors.contains("is a backup of another vault"), "\(refused)")
    #expect(try items() == ["one", "three", "two"])
    let restored = try coffer("vault", "restore", "\(bench.home.path)/foreign", "--force", "--other-vault", "--key-file", key)
    #expect(restored.status == 0 && restored.lines.contains("it is a backup of another vault"), "\(restored)")
    #expect(try bench.coffer("agent", "status", "--system").lines == ["locked"])
    #expect(try bench.coffer("secret", "list").status == 5)
    try unlock()
    #expect(try items() == [])
    try set("new")
    #expect(try coffer("vault", "verify", "--key-file", key).status == 0)
  }

  /// Without a vault that opens there is no proof of its owner, and whoever restores decides what the user's programs read.
  @Test(arguments: ["rm -f vault.coffer*", "head -c 30000 /dev/urandom >vault.coffer"])
  func onlyRootRestoresWhereNoVaultOpens(damage: String) throws {
    bench.stop()
    try shell("cd \(bench.state.path); \(damage)", as: 0)
    try bench.start()
    let refused = try coffer("vault", "restore", old, "--force", "--key-file", key)
    #expect([9, 10].contains(refused.status), "\(refused)")
    #expect(
      refused.errors.contains("hint: as root: coffer vault restore --user \(bench.user); with FILE, that backup"), "\(refused)")
    #expect(try coffer("vault", "restore", old, "--user", "\(bench.user)", "--force", "--key-file", key).status == 2)
    // Root needs a credential of the backup.
    let wrong = try coffer("vault", "restore", old, "--user", "\(bench.user)", "--force", "--key-file", other, as: 0)
    #expect(wrong.status == 7, "\(wrong)")
    let restored = try coffer("vault", "restore", old, "--user", "\(bench.user)", "--force", "--key-file", key, as: 0)
    #expect(restored.status == 0 && restored.lines.last?.hasSuffix(": restored, generation 3") ?? false, "\(restored)")
    try unlock()
    #expect(try items() == ["one", "two"])
    #expect(try shell("stat -c '%u %a' \(vault)", as: 0).output == "\(bench.agent) 600\n")
    #expect(try bench.coffer("app", "log").lines.contains { $0.contains("agent.restoreVault") })
  }
}
