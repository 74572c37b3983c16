import Foundation
import SystemBench
import Testing

/// Work on the whole vault of the system's agent, by the command of its user.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason)), .timeLimit(.minutes(60)))
struct SystemUpkeepTests {
  private let bench: SystemBench

  init() throws {
    bench = try SystemBench()
    try #require(try coffer("vault", "init", "--low-memory").status == 0)
    try #require(try bench.coffer("secret", "set", "mail/ada", input: "s3cret").status == 0)
  }

  private func coffer(_ arguments: String..., passphrase: String = "correct horse") throws -> Child.Outcome {
    try bench.run(
      bench.programs.appending(path: "coffer").path, arguments + ["--passphrase-fd", "0"], input: passphrase + "\n")
  }

  @Test func thePolicyIsShownAndSet() throws {
    let standard = try coffer("vault", "policy")
    #expect(standard.status == 0 && standard.lines.contains("history-versions\t10\tstandard"), "\(standard)")
    let set = try coffer("vault", "policy", "history-versions=3", "idle-minutes=5", "--json")
    #expect(set.status == 0 && set.output.hasPrefix(#"{"history-versions":3,"history-days":90,"idle-minutes":5,"#), "\(set)")
    #expect(try coffer("vault", "policy").lines.contains("history-versions\t3\tset"))
    #expect(try coffer("vault", "policy", "history-versions=65").status == 2)
    // A change takes a credential that opens the vault. The vault may stay locked.
    #expect(try coffer("vault", "policy", "history-versions=1", passphrase: "wrong").status == 7)
    #expect(try bench.coffer("vault", "lock").status == 0)
    #expect(try coffer("vault", "policy").lines.contains("history-versions\t3\tset"))
    #expect(try bench.coffer("agent", "status", "--system").lines == ["locked"])
  }

  @Test func everythingIsChecked() throws {
    let verified = try coffer("vault", "verify")
    #expect(verified.status == 0 && verified.output == "2 records, all sound\n", "\(verified)")
    #expect(try coffer("vault", "verify", passphrase: "wrong").status == 7)
    let json = try coffer("vault", "verify", "--json")
    #expect(json.output.hasPrefix(#"{"sound":true,"records":2,"#) && json.output.contains(#""rollback":null"#), "\(json)")
    try putBack()
    let rolledBack = try coffer("vault", "verify")
    #expect(
      rolledBack.status == 9 && rolledBack.errors.hasPrefix("coffer: the system's vault: is an older state"), "\(rolledBack)")
  }

  @Test func aStateThatWasPutBackIsAccepted() throws {
    let nothing = try coffer("vault", "accept-rollback")
    #expect(nothing.status == 0 && nothing.errors.hasPrefix("nothing to accept"), "\(nothing)")
    try putBack()
    #expect(try coffer("vault", "unlock").status == 9)
    #expect(try coffer("vault", "accept-rollback", passphrase: "wrong").status == 7)
    #expect(try coffer("vault", "unlock").status == 9)
    let unanswered = try coffer("vault", "accept-rollback")
    #expect(unanswered.status == 5 && unanswered.errors.contains("generation 3 was seen here before"), "\(unanswered)")
    #expect(try coffer("vault", "unlock").status == 9)
    let accepted = try coffer("vault", "accept-rollback", "--force")
    #expect(
      accepted.status == 0 && accepted.errors.contains("is of generation 2; generation 3 was seen here before"), "\(accepted)")
    #expect(try coffer("vault", "unlock").status == 0)
    #expect(try bench.coffer("secret", "get", "mail/ada").output == "s3cret")
  }

  /// Puts a state from before in the place of the vault, as after an attack.
  private func putBack() throws {
    bench.stop()
    let vault = URL(filePath: bench.state.path + "/vault.coffer")
    let old = try Data(contentsOf: vault)
    try bench.start()
    try #require(try coffer("vault", "unlock").status == 0)
    try #require(try bench.coffer("secret", "set", "mail/bob", input: "x").status == 0)
    bench.stop()
    try old.write(to: vault, options: [])
    try bench.start()
  }

  /// A new slot costs what the policy says, also at the agent.
  @Test func aNewPassphraseCostsWhatThePolicySays() throws {
    #expect(try coffer("vault", "policy", "kdf-passes=4", "kdf-memory=65536").status == 0)
    func changed(_ verb: String) throws -> Child.Outcome {
      _ = try bench.run("/bin/sh", ["-c", "umask 077; echo 'new horse' >\(bench.home.path)/new"])
      let command = "exec coffer vault \(verb) --passphrase-fd 0 --new-passphrase-fd 4 4<\(bench.home.path)/new"
      return try bench.run("/bin/sh", ["-c", command], input: "correct horse\n")
    }
    #expect(try changed("slot add").status == 0)
    #expect(try changed("slot add --low-memory").status == 0)
    let slots = try bench.coffer("vault", "kdf")
    #expect(slots.lines.filter { $0.hasSuffix("\t4\t64") }.count == 2, "\(slots)")
    #expect(try changed("passphrase").status == 0)
    // A cost below it takes a yes or --force.
    let below = try coffer("vault", "kdf", "--passes", "3", "--memory", "64", passphrase: "new horse")
    #expect(below.status == 5 && below.errors.contains("the vault's policy: no less than 4 x 64 MiB"), "\(below)")
  }

  // MARK: Backups

  private var backups: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: bench.state.path + "/backups")) ?? []).sorted()
  }

  @Test func theOwnerMakesABackup() throws {
    let made = try coffer("vault", "backup", "--verify")
    #expect(made.status == 0 && made.output.hasPrefix(bench.state.path + "/backups/"), "\(made)")
    #expect(made.output.hasSuffix("-g2.coffer: generation 2, 2 records, all sound\n") && backups.count == 1, "\(made)")
    #expect(try coffer("vault", "backup", passphrase: "wrong").status == 7)
    // In the user's own directory, under the user's own name.
    let copy = bench.home.path + "/copy.coffer"
    let kept = try coffer("vault", "backup", copy)
    #expect(kept.status == 0 && kept.output == "\(copy): generation 2, 2 records\n", "\(kept)")
    #expect(try bench.run("/usr/bin/stat", ["-c", "%u %a", copy]).output == "\(bench.user) 600\n")
    let opened = try coffer("secret", "get", "mail/ada", "--vault", copy)
    #expect(opened.output == "s3cret", "\(opened)")
    #expect(backups.count == 1)
    let again = try coffer("vault", "backup", copy)
    #expect(again.status == 4 && again.errors.hasPrefix("coffer: \(copy): there is such a file already"), "\(again)")
    #expect(try coffer("vault", "backup", bench.home.path + "/none/copy").status == 12)
    let full = try coffer("vault", "backup", "/dev/full/copy")
    #expect(full.status == 12, "\(full)")
  }

  @Test func aBackupGoesIntoAPipe() throws {
    func piped(_ command: String) throws -> Child.Outcome {
      try bench.run("/bin/sh", ["-c", "coffer vault backup - --passphrase-fd 0 \(command)"], input: "correct horse\n")
    }
    #expect(try piped(">\(bench.home.path)/piped").status == 0)
    #expect(try coffer("vault", "verify", "--vault", bench.home.path + "/piped").output == "2 records, all sound\n")
    #expect(try piped(">/dev/full").status == 12)
    #expect(try piped("| head -c 10 | wc -c").output == "10\n")
    #expect(backups == [])
  }

  /// The daily backup has no credential, and whoever reads the vault's file needs none.
  @Test func rootAloneNeedsNoCredential() throws {
    let program = bench.programs.appending(path: "coffer").path
    #expect(try bench.coffer("vault", "lock").status == 0)
    let made = try bench.run(program, ["vault", "backup", "--user", "\(bench.user)"], as: 0)
    #expect(made.status == 0 && backups.count == 1, "\(made)")
    let mine = try bench.run(program, ["vault", "backup", "--user", "\(bench.user)"])
    #expect(mine.status == 2 && mine.errors.hasPrefix("coffer: --user: is for root\n"), "\(mine)")
    #expect(try bench.coffer("vault", "backup").status == 5)
    let log = try coffer("app", "log")
    #expect(log.lines.contains { $0.contains("agent.backup") }, "\(log)")
    // Root asks for nothing else there.
    #expect(try bench.run(program, ["vault", "backup", "--user", "\(bench.user)", "--verify"], as: 0).status == 5)
    for count in 0..<10 {
      try #require(try bench.coffer("vault", "unlock", "--passphrase-fd", "0", input: "correct horse\n").status == 0)
      try #require(try bench.coffer("secret", "set", "mail/\(count)", input: "x").status == 0)
      try #require(try bench.run(program, ["vault", "backup", "--user", "\(bench.user)"], as: 0).status == 0)
    }
    #expect(backups.count == 10)
  }
}
