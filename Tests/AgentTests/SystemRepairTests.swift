import Foundation
import SystemBench
import Testing

/// Repair of the system's vault, and its restore by an agent that is killed, or has no room.
@Suite(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason)), .timeLimit(.minutes(60)))
struct SystemRepairTests {
  private let bench: SystemBench
  private var key: String { bench.home.path + "/key" }
  private var old: String { bench.home.path + "/old" }
  private var vault: String { bench.state.path + "/vault.coffer" }

  init() throws {
    bench = try SystemBench()
    try shell("umask 077; head -c 32 /dev/urandom >\(key)")
    try #require(try coffer("vault", "init", "--key-file", key, "--no-passphrase").status == 0)
    try set("one", "two")
    try #require(try coffer("vault", "backup", old, "--key-file", key).status == 0)
  }

  private func coffer(_ arguments: String...) throws -> Child.Outcome {
    try bench.run(bench.programs.appending(path: "coffer").path, arguments)
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

  private func unlock() throws { try #require(try coffer("vault", "unlock", "--key-file", key).status == 0) }

  /// While no agent runs.
  private func damageOneItem() throws {
    bench.stop()
    let sql = "UPDATE rec SET a=zeroblob(length(a)) WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')"
    try #require(try shell("sqlite3 \(vault) \"\(sql)\" && chown \(bench.agent) \(bench.state.path)/*", as: 0).status == 0)
    try bench.start()
    try unlock()
  }

  @Test func whatIsSoundStays() throws {
    let sound = try coffer("vault", "repair", "--key-file", key)
    #expect(sound.status == 0 && sound.output == "3 records, all sound\n", "\(sound)")
    try damageOneItem()
    let trial = try coffer("vault", "repair", "--dry-run", "--key-file", key)
    #expect(trial.status == 9 && trial.output.contains("lost") && trial.output.contains("an item has been changed"), "\(trial)")
    let json = try coffer("vault", "repair", "--dry-run", "--json", "--key-file", key)
    #expect(json.status == 9 && json.output.hasPrefix(#"{"sound":false,"kept":2,"after":2,"#), "\(json)")
    #expect(try coffer("vault", "repair", "--key-file", key).status == 5)
    #expect(try coffer("vault", "verify", "--key-file", key).status == 9)
    // From a backup, with the name that the item has there.
    let from = try coffer("vault", "repair", "--from", old, "--dry-run", "--key-file", key)
    #expect(from.status == 9 && from.output.contains("from-backup\titem\tdefault\t"), "\(from)")
    let repaired = try coffer("vault", "repair", "--force", "--key-file", key)
    #expect(repaired.status == 0 && repaired.output.hasSuffix("2 records stay\n"), "\(repaired)")
    #expect(
      repaired.errors.contains("\nnote: 2 records, all sound; the vault as it was: \(bench.state.path)/backups/"), "\(repaired)")
    // The agent goes on with it.
    #expect(try items().count == 1)
    try set("three")
    #expect(try coffer("vault", "verify", "--key-file", key).status == 0)
    #expect(try shell("ls \(bench.state.path)/backups | grep -c 'before-repair.coffer.repair$'", as: 0).output == "1\n")
  }

  @Test func lostRecordsComeFromABackup() throws {
    try damageOneItem()
    let repaired = try coffer("vault", "repair", "--from", old, "--force", "--key-file", key)
    #expect(repaired.status == 0 && repaired.output.hasPrefix("from-backup\t"), "\(repaired)")
    #expect(try items() == ["one", "two"])
    #expect(try shell("ls -A \(bench.state.path)/backups | grep '[.]new$'", as: 0).output == "")
  }

  /// The client refuses before it agrees, so the agent changes nothing.
  @Test func whatOpensDoesNotGoUnasked() throws {
    bench.stop()
    let sql = "UPDATE node SET b=zeroblob(length(b))"
    try #require(try shell("sqlite3 \(vault) \"\(sql)\" && chown \(bench.agent) \(bench.state.path)/*", as: 0).status == 0)
    try bench.start()
    try unlock()
    for options in [["--force"], ["--dry-run"]] {
      let refused = try bench.run(
        bench.programs.appending(path: "coffer").path, ["vault", "repair", "--key-file", key] + options)
      #expect(refused.status == 9 && refused.errors.contains("3 records are not damaged, and not proven"), "\(refused)")
    }
    #expect(try coffer("vault", "verify", "--key-file", key).status == 9)
    let repaired = try coffer("vault", "repair", "--accept-unproven", "--force", "--key-file", key)
    #expect(repaired.status == 0 && repaired.output.contains("3 records stay: 0 proven, 3 accepted"), "\(repaired)")
    #expect(try items() == ["one", "two"])
  }

  @Test func onlyTheOwnerRepairs() throws {
    try damageOneItem()
    try shell("umask 077; head -c 32 /dev/urandom >\(key).other; echo text >\(key).text")
    #expect(try coffer("vault", "repair", "--force", "--key-file", key + ".other").status == 7)
    #expect(try bench.coffer("vault", "repair", "--force").status == 5)
    try shell("umask 077; coffer vault init --vault \(bench.home.path)/foreign --key-file \(key) --no-passphrase")
    let foreign = try coffer("vault", "repair", "--from", bench.home.path + "/foreign", "--force", "--key-file", key)
    #expect(foreign.status != 0 && foreign.errors.contains("the backup is of another vault"), "\(foreign)")
    let closed = bench.home.path + "/closed"
    try shell("coffer vault init --vault \(closed) --key-file \(key) --no-passphrase")
    try shell("sqlite3 \(closed) 'DELETE FROM hdr WHERE k=1'")
    let unsound = try coffer("vault", "repair", "--from", closed, "--force", "--key-file", key)
    #expect(unsound.status == 9 && unsound.errors.hasPrefix("coffer: \(closed): the header is damaged"), "\(unsound)")
    let text = try coffer("vault", "repair", "--from", key + ".text", "--force", "--key-file", key)
    #expect(text.status == 9 && text.errors.hasPrefix("coffer: \(key).text: is not a vault"), "\(text)")
    #expect(try coffer("vault", "repair", "--from", key + ".none", "--force", "--key-file", key).status == 3)
    #expect(try coffer("vault", "verify", "--key-file", key).status == 9)
  }

  // MARK: Kills, and errors

  private var unlocking: String { "coffer vault unlock --key-file \(key)" }

  private func expectRestorable(_ place: SourceLocation = #_sourceLocation) throws {
    try unlock()
    let found = try items()
    #expect(found == ["one", "two"] || found == ["one", "three", "two"], sourceLocation: place)
    #expect(try coffer("vault", "verify", "--key-file", key).status == 0, sourceLocation: place)
    let again = try coffer("vault", "restore", old, "--force", "--key-file", key)
    #expect(again.status == 0, "\(again)", sourceLocation: place)
    #expect(try items() == ["one", "two"], sourceLocation: place)
    let left = try shell(
      "ls -A \(bench.state.path) \(bench.state.path)/backups | grep '[.]new$'; ls \(bench.state.path)/state/anchors | grep restore",
      as: 0)
    #expect(left.output == "", sourceLocation: place)
  }

  @Test(arguments: ["pwrite64", "fdatasync", "renameat2", "unlink"])
  func aKilledAgentLeavesTheVaultOrTheRestoredOne(call: String) throws {
    try set("three")
    let injection = AgentInjection(bench: bench, call: call, unlock: unlocking)
    try injection.kill(in: "coffer vault restore \(old) --force --key-file \(key)") { outcome, place in
      #expect([0, 12].contains(outcome.status), "\(place): \(outcome)")
      // The lines are about the vault, and not about the backup.
      let isNamed = outcome.errors.hasPrefix("coffer: the system's vault: ") && !outcome.errors.contains("--vault")
      let says = ["hint: the vault is the one before, or that of the backup: coffer vault", "hint: nothing has been changed"]
      #expect(outcome.status == 0 || isNamed, "\(place): \(outcome)")
      #expect(!outcome.errors.contains("not known") || says.contains { outcome.errors.contains($0) }, "\(place): \(outcome)")
      try unlock()
      if outcome.status == 0 { #expect(try items() == ["one", "two"], "\(place)") }
      try expectRestorable()
    }
  }

  @Test(arguments: ["pwrite64", "fdatasync", "renameat2"]) func aKilledAgentLeavesTheRepairToTheNext(call: String) throws {
    try damageOneItem()
    let injection = AgentInjection(bench: bench, call: call, unlock: unlocking)
    try injection.kill(in: "coffer vault repair --from \(old) --force --key-file \(key)") { outcome, place in
      #expect([0, 12].contains(outcome.status), "\(place): \(outcome)")
      try unlock()
      let state = try coffer("vault", "verify", "--key-file", key)
      #expect(state.status == 0 || outcome.status != 0 && state.status == 9, "\(place): \(state) \(outcome)")
      let again = try coffer("vault", "repair", "--from", old, "--force", "--key-file", key)
      #expect(again.status == 0, "\(place): \(again)")
      try expectRestorable()
    }
  }

  @Test(arguments: ["write", "pwrite64", "renameat2"]) func withoutRoomNothingIsChanged(call: String) throws {
    try set("three")
    let injection = AgentInjection(bench: bench, call: call, unlock: unlocking)
    let traced = try injection.run("coffer vault restore \(old) --force --key-file \(key)", "error=ENOSPC:when=1+")
    #expect(traced.isInjected && traced.outcome.status == 12, "\(call): \(traced)")
    try unlock()
    #expect(try items() == ["one", "three", "two"])
    try expectRestorable()
  }

  /// The agent's directory of backups alone is full: a copy is written there before anything else is.
  @Test(.enabled(if: SystemBench.mayMount)) func withoutRoomForItsCopyNothingIsChanged() throws {
    try set("three")
    try damageOneItem()
    let before = try items()
    let backups = bench.state.path + "/backups"
    let mounted = try shell(
      "install -d -m 700 -o \(bench.agent) -g \(bench.agent) \(backups) && mount -t tmpfs -o size=64k,mode=0700,uid=\(bench.agent),gid=\(bench.agent) tmpfs \(backups) && "
        + "head -c 60000 /dev/zero >\(backups)/full", as: 0)
    try #require(mounted.status == 0, "\(mounted)")
    defer { _ = try? shell("umount -l \(backups)", as: 0) }
    for arguments in [["backup"], ["restore", old, "--force"], ["repair", "--force"]] {
      let outcome = try bench.run(
        bench.programs.appending(path: "coffer").path, ["vault"] + arguments + ["--key-file", key])
      #expect(outcome.status == 12 && outcome.errors.contains("no room on the disk"), "\(arguments): \(outcome)")
      #expect(try shell("ls -A \(backups)", as: 0).output == "full\n")
    }
    #expect(try items() == before)
    try #require(try shell("umount -l \(backups)", as: 0).status == 0)
    #expect(try coffer("vault", "repair", "--from", old, "--force", "--key-file", key).status == 0)
    try expectRestorable()
  }
}
