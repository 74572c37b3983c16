import Children
import CofferFiles
import CofferStorage
import CofferTesting
import Glibc
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@testable import CofferLifecycle

@Suite struct RestoreTests {
  @Test func theRecordsOfTheBackupBecomeTheNextGeneration() throws {
    let scene = try RestoreScene()
    let restoration = try scene.restoration()
    let plan = try restoration.plan(step: { _, _ in })
    #expect(plan.way == .continuing && plan.comparison?.onlyHere == 1 && plan.generation == 3)
    let before = try scene.open()
    let outcome = try restoration.carryOut(now: .test, step: { _, _ in })
    #expect(outcome.generation == 4)
    #expect(try scene.accounts() == ["0", "1", "2"])
    // A vault that was open before goes on, and is verified.
    #expect(try before.generation() == 4 && before.verify().isSound)
    #expect(try scene.fixture.open(outcome.kept).entries().entries.count == 4)
  }

  @Test func aCredentialOfTheVaultStaysOneAndOneOfTheBackupDoesNotComeBack() throws {
    let scene = try RestoreScene()
    do {
      var vault = try scene.open()
      let slot = vault.openedSlot
      try vault.addSlot(.keyFile(Secret(testing: [UInt8](repeating: 7, count: 32))))
      try vault.removeSlot(slot.id)
      try vault.close()
    }
    let restoration = try scene.restoration()
    _ = try restoration.carryOut(now: .test, step: { _, _ in })
    #expect(throws: VaultError(.wrongCredential)) { _ = try scene.open() }
    let vault = try Vault.open(
      FileStore(at: scene.fixture.path), with: .keyFile(Secret(testing: [UInt8](repeating: 7, count: 32))), anchor: scene.anchors)
    #expect(try vault.verify().isSound && vault.entries().entries.count == 3)
  }

  /// The backup of the vault is made anew if its state is not that of the vault any more.
  @Test func itemsThatAreWrittenMeanwhileAreInTheBackup() throws {
    let scene = try RestoreScene(items: 1100)
    let restoration = try scene.restoration()
    var written = 0
    let outcome = try restoration.carryOut(now: .test) { done, _ in
      // While the backup is made, after its transaction has begun.
      guard written < 2, done == 1024 else { return }
      written += 1
      try scene.add("meanwhile-\(written)")
    }
    #expect(try scene.accounts().count == 1100)
    let kept = try scene.fixture.open(outcome.kept).entries().entries.compactMap { $0.item["account"] }
    #expect(Set(kept).isSuperset(of: ["later", "meanwhile-1"]) && written > 0)
  }

  @Test func aVaultThatIsWrittenAllTheTimeStaysAsItIs() throws {
    let scene = try RestoreScene(items: 1100)
    let restoration = try scene.restoration()
    var count = 0
    #expect(throws: LifecycleError(.changedMeanwhile)) {
      _ = try restoration.carryOut(now: .test) { done, _ in
        guard done == 1024 else { return }
        count += 1
        try scene.add("meanwhile-\(count)")
      }
    }
    #expect(try scene.accounts().count == 1101 + count && count == 10)
    #expect(scene.fixture.backups.names.isEmpty)
  }

  /// Killed after the commit, and before the anchor is written.
  @Test func theNextToOpenFinishesTheAnchor() throws {
    let scene = try RestoreScene()
    try scene.add("newest")
    let restoration = try scene.restoration()
    let store = try FileStore(at: scene.fixture.path)
    let restored = try restoration.restored()
    try store.replaceRows(by: restoration.store, total: 4, continuing: { _ in nil }, step: { _, _ in }, verify: { _ in })
    // The control: without the intent the restored vault is refused.
    #expect(throws: VaultError(.rolledBack)) { _ = try scene.open() }
    try scene.anchors.announce(header: restored.header, anchor: restored.anchor)
    #expect(try scene.accounts() == ["0", "1", "2"])
    #expect(try Files.status(at: scene.anchors.intentPath()) == nil)
    try scene.add("after")
    #expect(try scene.accounts() == ["0", "1", "2", "after"])
  }

  /// Killed before the commit: the intent means nothing any more, and another state is not accepted because of it.
  @Test func anIntentThatWasNotCarriedOutIsRemoved() throws {
    let scene = try RestoreScene()
    do {
      let restoration = try scene.restoration()
      let restored = try restoration.restored()
      try scene.anchors.announce(header: restored.header, anchor: restored.anchor)
      // The restore is under way: it stays.
      #expect(try scene.accounts().count == 4)
      #expect(try Files.status(at: scene.anchors.intentPath()) != nil)
    }
    #expect(try scene.accounts().count == 4)
    #expect(try Files.status(at: scene.anchors.intentPath()) == nil)
    run("cp", scene.backup, scene.fixture.path)
    #expect(throws: VaultError(.rolledBack)) { _ = try scene.open() }
  }

  /// Else the backup, in the place of the vault, would be accepted later.
  @Test func aRestoreThatFailsLeavesNoIntent() throws {
    struct Own: Error {}
    let scene = try RestoreScene()
    _ = try scene.fixture.rotate(Party())
    let restoration = try scene.restoration()
    #expect(try restoration.plan(step: { _, _ in }).way == .replacing)
    let intent = try scene.anchors.intentPath()
    #expect(throws: Own.self) {
      _ = try restoration.carryOut(now: .test) { _, _ in if try Files.status(at: intent) != nil { throw Own() } }
    }
    #expect(try Files.status(at: intent) == nil)
  }

  @Test func aDamagedIntentChangesNothing() throws {
    let scene = try RestoreScene()
    run("sh", "-c", "umask 077; head -c 300 /dev/zero >\(try scene.anchors.intentPath())")
    #expect(try scene.accounts().count == 4)
    #expect(try Files.status(at: scene.anchors.intentPath()) == nil)
  }

  /// Its copy of the vault is as large as the vault, and the disk may be full.
  @Test func aRestoreThatFailsLeavesNoCopyOfTheVault() throws {
    struct Own: Error {}
    let scene = try RestoreScene()
    let restoration = try scene.restoration()
    // At each step, until there is none left at which it could end.
    var (failures, copies, isDone) = (0, 0, false)
    while !isDone {
      var count = 0
      do {
        _ = try restoration.carryOut(now: .test) { _, _ in
          count += 1
          guard count > failures else { return }
          copies += scene.fixture.backups.names.count
          throw Own()
        }
        isDone = true
      } catch is Own {
        failures += 1
        #expect(try scene.fixture.backups.names.isEmpty && scene.accounts().count == 4)
      }
    }
    #expect(failures >= 4 && copies >= 2 && scene.fixture.backups.names.count == 1)
  }

  /// The oldest of many, which are removed after the commit and not before.
  @Test func theFileThatIsRestoredStays() throws {
    struct Own: Error {}
    let scene = try RestoreScene()
    let backups = scene.fixture.backups
    for time in 1...12 {
      _ = try scene.fixture.backup(at: Int64(time))
      try scene.fixture.change()
    }
    let oldest = backups.path(of: try #require(backups.names.last))
    try scene.add("newest")
    do {
      let restoration = try scene.restoration(of: oldest)
      #expect(throws: Own.self) {
        // In the transaction, after the vault as it was has been kept.
        _ = try restoration.carryOut(now: .test) { _, total in if total == 5 { throw Own() } }
      }
      #expect(backups.names.count == 12)
    }
    let restoration = try scene.restoration(of: oldest)
    let outcome = try restoration.carryOut(now: .test, step: { _, _ in })
    let names = backups.names.map(backups.path(of:))
    // The copy of the vault as it was counts apart.
    #expect(names.count == 11 && names.contains(oldest) && names.contains(outcome.kept ?? ""))
    #expect(try backups.newest(forVaultAt: scene.fixture.path) != outcome.kept)
  }

  @Test(arguments: ["-wal", "-journal"]) func changesBesideTheBackupAreNotLeftOut(log: String) throws {
    let scene = try RestoreScene()
    run("sh", "-c", "printf log >\(scene.backup)\(log)")
    #expect(throws: LifecycleError(.hasLog)) { _ = try scene.restoration() }
    run("sh", "-c", ": >\(scene.backup)\(log)")
    _ = try scene.restoration()
  }

  /// A page that the comparison does not read.
  @Test func aFileThatTurnsOutToBeDamagedIsExchangedAfterAnotherYes() throws {
    let scene = try RestoreScene(secret: String(repeating: "x", count: 60_000))
    let path = scene.fixture.path
    let page = try #require(run("sqlite3", path, "SELECT pageno FROM dbstat WHERE name='rec' AND path LIKE '%+000005'").first)
    let damage = "dd of=\(path) bs=4096 seek=$((\(page) - 1)) count=1 conv=notrunc iflag=fullblock"
    run("sh", "-c", "tr '\\0' '\\377' </dev/zero | \(damage)")
    let before = run("cksum", path)
    let restoration = try scene.restoration()
    struct Declined: Error {}
    var plans: [Restoration.Plan] = []
    #expect(throws: Declined.self) {
      _ = try restoration.carryOut(
        now: .test, step: { _, _ in },
        agree: { plan in
          plans.append(plan)
          if plans.count == 2 { throw Declined() }
        })
    }
    #expect(run("cksum", path) == before && scene.fixture.backups.names.isEmpty)
    #expect(plans.map(\.way) == [.continuing, .exchanging] && plans.last?.damage == StorageError(.storageDamaged))
    #expect(try restoration.carryOut(now: .test, step: { _, _ in }).way == .exchanging)
    #expect(try scene.accounts() == ["0", "1", "2"])
  }

  @Test func oneRestoreAtATime() throws {
    let scene = try RestoreScene()
    let first = try scene.restoration()
    #expect(throws: StorageError(.maintenance)) { _ = try scene.restoration() }
    withExtendedLifetime(first) {}
  }

  @Test func aTrialIsNoted() throws {
    let scene = try RestoreScene()
    #expect(try Drill.last(in: scene.places) == nil)
    try scene.restoration().noteDrill()
    #expect(try #require(try Drill.last(in: scene.places)).secondsSince1970 > 1_700_000_000)
  }

  /// Random histories on both sides, counted by hand.
  @Test(arguments: 1...20) func theComparisonCountsTheItems(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let scene = try RestoreScene(items: 20)
    var expected = Comparison.Counts()
    do {
      var vault = try scene.open()
      expected.onlyHere = 1
      for index in 0..<20 {
        let item = Item(service: "item", account: "\(index)")
        guard let entry = try vault.entry(item) else { continue }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          try vault.remove(entry.reference)
          expected.onlyThere += 1
        case 1:
          try vault.update(entry.reference, secret: Secret(testing: "new"), at: .test)
          expected.newerHere += 1
        case 2:
          try vault.add(Item(service: "new", account: "\(index)"), secret: Secret(testing: "new"), at: .test)
          expected.onlyHere += 1
        default: break
        }
      }
      try vault.close()
    }
    let found = try #require(try scene.restoration().plan(step: { _, _ in }).comparison)
    #expect(Comparison.Counts(found) == expected)
    #expect(found.differing == 0 && !found.otherRecordsDiffer)
  }
}

extension Comparison {
  struct Counts: Equatable {
    var onlyHere: UInt64 = 0
    var onlyThere: UInt64 = 0
    var newerHere: UInt64 = 0

    init() {}
    init(_ comparison: Comparison) {
      (onlyHere, onlyThere, newerHere) = (comparison.onlyHere, comparison.onlyThere, comparison.newerHere)
    }
  }
}
