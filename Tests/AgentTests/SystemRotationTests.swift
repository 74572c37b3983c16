import Foundation
import SystemBench
import Testing

/// New keys for the system's vault, which its agent makes.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason)), .timeLimit(.minutes(60)))
struct SystemRotationTests {
  private let bench: SystemBench
  private var vault: String { bench.state.path + "/vault.coffer" }
  private var backups: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: bench.state.path + "/backups")) ?? []).sorted()
  }

  init() throws {
    bench = try SystemBench()
    try shell(
      """
      umask 077; printf 'correct horse battery staple' >old; printf 'another horse battery staple' >new
      head -c 32 /dev/urandom >key; head -c 32 /dev/urandom >other
      """)
    try #require(try shell("coffer vault init --low-memory --passphrase-fd 3 3<old").status == 0)
    for name in ["one", "two"] { try #require(try bench.coffer("secret", "set", name, input: name).status == 0) }
    try #require(try bench.coffer("secret", "set", "--group", "team", "--create-group", "db", input: "db").status == 0)
  }

  /// Runs a script in the home of the user.
  @discardableResult private func shell(_ script: String, as user: UInt32? = nil) throws -> Child.Outcome {
    try bench.run("/bin/sh", ["-c", "cd \(bench.home.path); \(script)"], as: user)
  }

  private func opens(_ passphrase: String) throws -> Int32 {
    try shell("coffer vault verify --passphrase-fd 3 3<\(passphrase)").status
  }

  private func expectWhole(_ passphrase: String, _ place: SourceLocation = #_sourceLocation) throws {
    let unlocked = try shell("coffer vault unlock --passphrase-fd 3 3<\(passphrase)")
    #expect(unlocked.status == 0, "\(unlocked)", sourceLocation: place)
    let found = try shell("for name in one two --group=team\\ db; do coffer secret get $name; echo; done")
    #expect(found.output == "one\ntwo\ndb\n", "\(found)", sourceLocation: place)
  }

  @Test func everythingIsUnderNewKeys() throws {
    let asked = try shell("coffer vault rotate --passphrase-fd 3 3<old")
    #expect(asked.status == 5 && asked.errors.hasSuffix("hint: --force\n") && backups == [], "\(asked)")
    let rotated = try shell("coffer vault rotate --force --passphrase-fd 3 3<old")
    #expect(rotated.status == 0 && rotated.output.hasSuffix("master key 2: 1 slot, 2 groups with new keys\n"), "\(rotated)")
    #expect(backups.count == 1 && rotated.errors.contains("/backups/\(backups[0])"), "\(rotated)")
    // Programs unlock it again.
    #expect(try bench.coffer("agent", "status", "--system").lines == ["locked"])
    try expectWhole("old")
    let log = try shell("coffer app log --passphrase-fd 3 3<old")
    #expect(log.lines.contains { $0.contains("agent.rotate") }, "\(log)")
    let group = try shell("coffer vault rotate --force --group team --passphrase-fd 3 3<old")
    #expect(group.status == 0 && group.output.hasSuffix("master key 2: 1 slot, 1 group with new keys\n"), "\(group)")
    #expect(try shell("coffer vault rotate --force --group none --passphrase-fd 3 3<old").status == 3)
    // The master key has stayed, and so has the vault open.
    #expect(try bench.coffer("secret", "get", "--group", "team", "db").output == "db")
    #expect(try opens("old") == 0)
  }

  @Test func aLeakedPassphraseOpensNothing() throws {
    let wrong = try shell("coffer vault passphrase --leaked --force --passphrase-fd 3 --new-passphrase-fd 4 3<new 4<old")
    #expect(wrong.status == 7 && backups == [], "\(wrong)")
    try shell("coffer vault backup --passphrase-fd 3 3<old")
    let changed = try shell(
      "coffer vault passphrase --leaked --prune-backups --force --passphrase-fd 3 --new-passphrase-fd 4 3<old 4<new")
    #expect(changed.status == 0 && changed.output.hasSuffix("master key 2: 1 slot, 2 groups with new keys\n"), "\(changed)")
    #expect(changed.errors.contains("were removed:\n  \(bench.state.path)/backups/") && backups == [], "\(changed)")
    #expect(try opens("old") == 7)
    #expect(try opens("new") == 0)
    try expectWhole("new")
  }

  @Test func eachSlotIsSealedAnew() throws {
    try #require(try shell("coffer vault slot add --new-key-file key --passphrase-fd 3 3<old").status == 0)
    let first = try shell("coffer vault slot add --new-recovery-key --passphrase-fd 3 3<old >first")
    try #require(first.status == 0, "\(first)")
    let missing = try shell("coffer vault rotate --force --passphrase-fd 3 3<old")
    #expect(missing.status == 5 && missing.errors.contains("2 slots without a credential"), "\(missing)")
    let wrong = try shell("coffer vault rotate --force --new-recovery-key --slot-key-file 2=other --passphrase-fd 3 3<old >none")
    #expect(wrong.status == 7 && wrong.errors.contains("slot 2: another credential"), "\(wrong)")
    let dropped = try shell(
      "coffer vault rotate --force --new-recovery-key --slot-key-file 2=key --drop-slot 1 --passphrase-fd 3 3<old")
    #expect(dropped.status == 2 && dropped.errors.contains("names the slot that opened the vault (1)"), "\(dropped)")
    let unwritten = try shell(
      "coffer vault rotate --force --new-recovery-key --slot-key-file 2=key --passphrase-fd 3 3<old >/dev/full")
    #expect(unwritten.status == 12, "\(unwritten)")
    #expect(try shell("coffer vault verify --recovery-key-fd 3 3<first").status == 0)
    let rotated = try shell(
      "coffer vault rotate --force --new-recovery-key --slot-key-file 2=key --passphrase-fd 3 3<old >second")
    #expect(rotated.status == 0 && rotated.errors.contains("master key 2: 3 slots, 2 groups with new keys\n"), "\(rotated)")
    #expect(try shell("coffer vault verify --recovery-key-fd 3 3<first").status == 7)
    #expect(try shell("coffer vault verify --recovery-key-fd 3 3<second").status == 0)
    // A recovery key that opened the vault is made anew, too.
    let third = try shell(
      "printf 'correct horse battery staple' >pass; coffer vault rotate --force --master-only --new-recovery-key --slot-key-file 2=key "
        + "--slot-passphrase-fd 1=4 --recovery-key-fd 3 3<second 4<pass >third")
    #expect(third.status == 0, "\(third)")
    #expect(try shell("coffer vault verify --recovery-key-fd 3 3<second").status == 7)
    #expect(try shell("coffer vault verify --recovery-key-fd 3 3<third").status == 0)
    #expect(try shell("coffer vault unlock --key-file key").status == 0)
    try expectWhole("old")
    // The key file lies there for programs, and proves no owner.
    #expect(try shell("coffer vault rotate --force --key-file key").status == 6)
  }

  /// The agent has the key of the device, which is that of its machine and no user's.
  @Test func theKeyOfTheDeviceIsNew() throws {
    try #require(
      try bench.coffer("secret", "set", "here", "--accessible", "when-unlocked-this-device", input: "here").status == 0)
    let state = bench.state.path + "/state"
    let before = try shell("ls \(state); cat \(state)/device-*.key | sha256sum", as: 0).lines
    let refused = try shell("coffer vault rotate --device-key --group team --force --passphrase-fd 3 3<old")
    #expect(refused.status == 2, "\(refused)")
    let rotated = try shell("coffer vault rotate --device-key --force --passphrase-fd 3 3<old")
    #expect(rotated.status == 0 && rotated.errors.contains("note: \(state)/device-"), "\(rotated)")
    let after = try shell("ls \(state); cat \(state)/device-*.key | sha256sum", as: 0).lines
    #expect(before.count > 2 && before.dropLast() == after.dropLast() && before.last != after.last, "\(before) \(after)")
    try expectWhole("old")
    #expect(try bench.coffer("secret", "get", "here").output == "here")
    try #require(
      try bench.coffer("secret", "set", "later", "--accessible", "when-unlocked-this-device", input: "later").status == 0)
    let verified = try shell("coffer vault verify --passphrase-fd 3 3<old")
    #expect(verified.status == 0 && verified.output.hasSuffix("records, all sound\n"), "\(verified)")
    let log = try shell("coffer app log --passphrase-fd 3 3<old")
    #expect(log.lines.contains { $0.contains("agent.rotate") && $0.contains("device key") }, "\(log)")
  }

  @Test func aDamagedVaultStaysAsItIs() throws {
    bench.stop()
    let sql = "UPDATE rec SET a=zeroblob(length(a)) WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')"
    try #require(try shell("sqlite3 \(vault) \"\(sql)\" && chown \(bench.agent) \(bench.state.path)/*", as: 0).status == 0)
    try bench.start()
    let refused = try shell("coffer vault rotate --force --passphrase-fd 3 3<old")
    #expect(refused.status == 9 && refused.errors.contains("1 problem") && backups == [], "\(refused)")
  }

  /// A vault of the draft is converted as a file, by the user of the agent, while that does not run.
  @Test func aDraftIsConvertedAsAFile() throws {
    let refused = try shell("coffer vault migrate --system")
    #expect(
      refused.status == 2 && refused.errors.contains("COFFER_HOME=/var/lib/coffer/\(bench.user) coffer vault migrate;"),
      "\(refused)")
    bench.stop()
    let vectors = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/Draft").path
    let state = bench.state.path
    try #require(
      try shell(
        "rm -rf \(state)/*; mkdir -m 700 \(state)/state; cp \(vectors)/device.key \(state)/state; cp \(vectors)/vault.coffer \(state); "
          + "cp \(vectors)/key \(state)/key; chmod 600 \(state)/key \(state)/vault.coffer \(state)/state/device.key; chown -R \(bench.agent) \(state)",
        as: 0
      ).status == 0)
    let converted = try bench.run(
      bench.programs.appending(path: "coffer").path, ["vault", "migrate", "--key-file", state + "/key"], as: bench.agent,
      environment: ["COFFER_HOME": state])
    #expect(converted.status == 0, "\(converted)")
    try bench.start()
    try #require(
      try shell("cp \(vectors)/passphrase \(bench.home.path)/draft; chown \(bench.user) \(bench.home.path)/draft", as: 0).status
        == 0)
    let verified = try shell("coffer vault verify --passphrase-fd 3 3<draft")
    #expect(verified.status == 0, "\(verified)")
  }

  /// The agent is killed before one of its system calls. Its user's command ends, and names the backup; the next agent has the vault.
  @Test(arguments: ["pwrite64", "renameat2", "unlink"]) func aKilledAgentLeavesOnePassphrase(call: String) throws {
    let injection = AgentInjection(bench: bench, call: call, unlock: "coffer vault unlock --passphrase-fd 3 3<old")
    let leaked = "coffer vault passphrase --leaked --force --passphrase-fd 3 --new-passphrase-fd 4 3<old 4<new"
    try injection.kill(in: leaked) { outcome, place in
      let (old, new) = (try opens("old"), try opens("new"))
      #expect([old, new].sorted() == [0, 7], "\(place): \(old) \(new) \(outcome)")
      #expect(outcome.status != 0 || new == 0, "\(place): \(outcome)")
      let present = old == 0 ? "old" : "new"
      try expectWhole(present)
      if outcome.status != 0, new == 0 { #expect(outcome.errors.contains("before-rotation.coffer: opens with"), "\(outcome)") }
      let next = try shell("coffer vault rotate --force --passphrase-fd 3 3<\(present)")
      #expect(
        next.status == 0 && !backups.contains { $0.contains("before-rotation") || $0.hasSuffix(".new") }, "\(next) \(backups)")
      try expectWhole(present)
    }
  }

  /// An error that the agent reports before the commit leaves everything as it was, and no backup.
  @Test func aRotationThatWasOvertakenSaysThatNothingHasChanged() throws {
    let overtaken = try bench.atTerminal(
      "exec coffer vault passphrase --leaked --passphrase-fd 3 --new-passphrase-fd 4 3<\(bench.home.path)/old 4<\(bench.home.path)/new",
      between: {
        let added = try shell("coffer vault slot add --new-key-file key --passphrase-fd 3 3<old")
        try #require(added.status == 0, "\(added)")
      }, answers: "y")
    #expect(overtaken.status == 12 && overtaken.output.contains("other programs write to it"), "\(overtaken)")
    #expect(!overtaken.output.contains("may count") && !overtaken.output.contains("before-rotation"), "\(overtaken)")
    #expect(backups == [])
    try expectWhole("old")
  }

  @Test func anInterruptOrALostAgentAtTheQuestionChangesNothing() throws {
    let command = "exec coffer vault rotate --passphrase-fd 3 3<\(bench.home.path)/old"
    let interrupted = try bench.atTerminal(command, between: {}, answers: "\u{3}")
    #expect(interrupted.status == 8 && interrupted.output.contains("cancelled: nothing has been changed"), "\(interrupted)")
    let lost = try bench.atTerminal(
      command,
      between: {
        bench.stop()
        try bench.start()
      }, answers: "y")
    #expect(lost.status == 12 && lost.output.contains("its agent has ended or does not answer"), "\(lost)")
    #expect(lost.output.contains("hint: nothing has been changed; try again"), "\(lost)")
    #expect(backups == [])
    try expectWhole("old")
  }

  /// The other slot is asked for after the plan, and before anything is changed.
  @Test func aWrongCredentialOfAnotherSlotChangesNothing() throws {
    try #require(try shell("coffer vault slot add --new-passphrase-fd 4 --low-memory --passphrase-fd 3 3<old 4<new").status == 0)
    func generation() throws -> String? { try shell("coffer vault status").lines.first { $0.hasPrefix("generation") } }
    let before = try generation()
    let wrong = try shell("coffer vault rotate --force --passphrase-fd 3 --slot-passphrase-fd 2=4 3<old 4<old")
    #expect(wrong.status == 7 && wrong.errors.contains("slot 2: another credential"), "\(wrong)")
    #expect(try generation() == before && backups == [])
    let rotated = try shell("coffer vault rotate --force --passphrase-fd 3 --slot-passphrase-fd 2=4 3<old 4<new")
    #expect(rotated.status == 0, "\(rotated)")
    #expect(try opens("new") == 0)
    #expect(try opens("old") == 0)
  }
}
