import Children
import CofferStorage
import CofferTesting
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@testable import CofferLifecycle

@Suite struct RepairStepsTests {
  /// A repair computes its plan again before it acts on it.
  @Test func aRepairIsCountedAndEndsWithoutAChange() throws {
    struct Ended: Error {}
    let scene = try RestoreScene(items: 2100)
    run("sqlite3", scene.fixture.path, "UPDATE rec SET a=zeroblob(length(a)) WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')")
    let store = try FileStore(at: scene.fixture.path)
    let repair = Repair(of: store, backups: scene.fixture.backups, from: nil, acceptsUnproven: false)
    var opened = try scene.open()
    var steps: [(done: UInt64, total: UInt64)] = []
    let plan = try repair.plan(for: opened) { steps.append(($0, $1)) }
    #expect(plan.count(.lost) == 1 && steps.map(\.done) == [1024, 2048] && steps.allSatisfy { $0.total == 2102 })
    let generation = try opened.generation()
    // In the walk, and in the making of the tree.
    for limit: UInt64 in [1024, 3000] {
      let kept = try repair.backUp(now: .test, step: { _, _ in })
      #expect(throws: Ended.self) {
        _ = try repair.carryOut(plan, on: &opened, keeping: kept, now: .test) { done, _ in if done >= limit { throw Ended() } }
      }
      #expect(try opened.generation() == generation && !opened.verify().isSound)
      #expect(scene.fixture.names(scene.fixture.backups.path) == [])
    }
    let kept = try repair.backUp(now: .test, step: { _, _ in })
    steps = []
    #expect(try repair.carryOut(plan, on: &opened, keeping: kept, now: .test) { steps.append(($0, $1)) } == nil)
    #expect(steps.map(\.done) == steps.map(\.done).sorted() && steps.allSatisfy { $0.done < $0.total } && steps.count == 5)
    #expect(try opened.verify().isSound && scene.fixture.names(scene.fixture.backups.path).count == 2)
  }

  @Test func aRepairStandsWithoutItsReport() throws {
    let scene = try RestoreScene()
    run("sqlite3", scene.fixture.path, "UPDATE rec SET a=zeroblob(length(a)) WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')")
    let repair = Repair(
      of: try FileStore(at: scene.fixture.path), backups: scene.fixture.backups, from: nil, acceptsUnproven: false)
    var opened = try scene.open()
    let plan = try repair.plan(for: opened, step: { _, _ in })
    let kept = try repair.backUp(now: .test, step: { _, _ in })
    run("mkdir", "\(kept).repair")
    let failure = try repair.carryOut(plan, on: &opened, keeping: kept, now: .test, step: { _, _ in })
    #expect(failure?.detail.hasPrefix("\(kept).repair") == true)
    #expect(try opened.verify().isSound && scene.fixture.backups.names.count == 1)
  }

  /// It is kept as it is, although it has fewer records than its header says.
  @Test func aVaultWithoutARecordIsKeptAndRepaired() throws {
    let scene = try RestoreScene()
    run("sqlite3", scene.fixture.path, "DELETE FROM rec WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')")
    let repair = Repair(
      of: try FileStore(at: scene.fixture.path), backups: scene.fixture.backups, from: nil, acceptsUnproven: false)
    var opened = try scene.open()
    let plan = try repair.plan(for: opened, step: { _, _ in })
    let kept = try repair.backUp(now: .test, step: { _, _ in })
    #expect(try repair.carryOut(plan, on: &opened, keeping: kept, now: .test, step: { _, _ in }) == nil)
    #expect(try opened.verify().isSound && !scene.fixture.open(kept).verify().isSound)
  }

  /// Rows that SQLite does not read within the bounds of a row, and keys that no node has, keep nothing else from being repaired.
  @Test(arguments: [
    "UPDATE rec SET s=zeroblob(5000000) WHERE id=$", "UPDATE rec SET a=zeroblob(5000000) WHERE id=$",
    "UPDATE rec SET m=zeroblob(5000000) WHERE id=$", "UPDATE rec SET grp=zeroblob(5000000) WHERE id=$",
    "UPDATE rec SET d=zeroblob(5000000) WHERE id=$", "UPDATE rec SET s=replace(hex(zeroblob(2500000)),'0','a') WHERE id=$",
    "UPDATE rec SET id=zeroblob(5000000) WHERE id=$", "UPDATE rec SET id=replace(hex(zeroblob(2500000)),'0','a') WHERE id=$",
    "UPDATE rec SET id=7 WHERE id=$", "UPDATE rec SET a=7.5,s='text' WHERE id=$",
    "UPDATE node SET b=zeroblob(5000000)", "UPDATE node SET b='text'", "UPDATE node SET p=zeroblob(5000000)",
    "INSERT INTO node VALUES(zeroblob(20),x'')", "INSERT INTO node VALUES(x'010203',x'')",
    "INSERT INTO node VALUES(replace(hex(zeroblob(2500000)),'0','a'),x'')",
    "INSERT INTO node VALUES(zeroblob(5000000),zeroblob(5000000))",
  ]) func aRowOfAnyShapeIsRepaired(damage: String) throws {
    let scene = try RestoreScene()
    let last = "(SELECT max(id) FROM rec WHERE id<x'80')"
    run("sqlite3", scene.fixture.path, damage.replacing("$", with: last))
    let repair = Repair(
      of: try FileStore(at: scene.fixture.path), backups: scene.fixture.backups, from: nil, acceptsUnproven: true)
    var opened = try scene.open()
    #expect(try !opened.verify().isSound)
    let plan = try repair.plan(for: opened, step: { _, _ in })
    #expect(plan.count(.lost) <= 1 && !plan.isSound)
    let kept = try repair.backUp(now: .test, step: { _, _ in })
    #expect(try repair.carryOut(plan, on: &opened, keeping: kept, now: .test, step: { _, _ in }) == nil)
    #expect(try opened.verify().isSound && !scene.fixture.open(kept).verify().isSound)
  }

  /// A store whose next commit fails: after it was made, with a doubt about it, or before.
  private final class FailingStore: Store {
    private let inner: FileStore
    private let error: StorageError

    init(_ inner: FileStore, _ error: StorageError) { (self.inner, self.error) = (inner, error) }

    func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result { try inner.read(body) }

    func commit(_ prepare: (any Rows) throws -> Change) throws {
      if error ~= StorageError(.inDoubt) { try inner.commit(prepare) }
      throw error
    }
  }

  /// The vault may have been changed: then the backup is the only one of it as it was.
  @Test(arguments: [StorageError.Code.inDoubt, .full]) func theBackupStaysIfTheCommitIsInDoubt(code: StorageError.Code) throws {
    let scene = try RestoreScene()
    run("sqlite3", scene.fixture.path, "UPDATE rec SET a=zeroblob(length(a)) WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')")
    let store = try FileStore(at: scene.fixture.path)
    let repair = Repair(of: store, backups: scene.fixture.backups, from: nil, acceptsUnproven: false)
    var opened = try Vault.openThrowAway(FailingStore(store, StorageError(code)))
    let plan = try repair.plan(for: opened, step: { _, _ in })
    let kept = try repair.backUp(now: .test, step: { _, _ in })
    #expect(throws: StorageError(code)) {
      _ = try repair.carryOut(plan, on: &opened, keeping: kept, now: .test, step: { _, _ in })
    }
    #expect(scene.fixture.backups.paths == (code == .inDoubt ? [kept] : []))
  }

  /// A vault without its place in a space counts as restored: else a pass of `coffer sync` would remove the lost item from other devices. A
  /// process may be killed at any point, so the place goes in the commit of the repair: not before, and not in one of its own.
  @Test(arguments: [
    "UPDATE rec SET a=zeroblob(length(a)) WHERE id=$",
    "UPDATE rec SET a=zeroblob(length(a)) WHERE id=$; UPDATE node SET b='text'",
  ]) func theFirstCommitOfARepairRemovesThePlaceOfASpace(damage: String) throws {
    let scene = try RestoreScene()
    let rows = { run("sqlite3", scene.fixture.path, "SELECT quote(id) FROM rec WHERE id<x'80'") }
    let before = rows()
    try scene.add("lost")
    let lost = try #require(rows().first { !before.contains($0) })
    var vault = try scene.open()
    try vault.createGroup(SyncPlace.group, at: .test)
    let place = try vault.add(
      Item(service: SyncPlace.service, account: "1"), secret: Secret(count: 0), to: SyncPlace.group, at: .test)
    // A former version of it goes as well.
    try vault.update(place, at: .test) { $0.label = "2" }
    try vault.add(Item(service: "space", account: "1"), secret: Secret(testing: "x"), to: SyncPlace.group, at: .test)
    try vault.close()
    run("sqlite3", scene.fixture.path, damage.replacing("$", with: lost))
    let store = try FileStore(at: scene.fixture.path)
    let repair = Repair(of: store, backups: scene.fixture.backups, from: nil, acceptsUnproven: true)
    for code in [StorageError.Code.full, .inDoubt] {
      var opened = try Vault.openThrowAway(FailingStore(store, StorageError(code)))
      let plan = try repair.plan(for: opened, step: { _, _ in })
      let kept = try repair.backUp(now: .test, step: { _, _ in })
      #expect(throws: StorageError(code)) {
        _ = try repair.carryOut(plan, on: &opened, keeping: kept, now: .test, step: { _, _ in })
      }
    }
    let repaired = try scene.open()
    #expect(
      try repaired.verify().isSound && repaired.entries(in: SyncPlace.group).entries.map { $0.item["service"] } == ["space"])
    #expect(try !repaired.entries().entries.contains { $0.item["account"] == "lost" })
    #expect(try repaired.removedItems().isEmpty)
  }

  /// Nothing was lost: the places stay.
  @Test func aRepairThatLosesNothingKeepsThePlaces() throws {
    let scene = try RestoreScene()
    var vault = try scene.open()
    try vault.createGroup(SyncPlace.group, at: .test)
    try vault.add(Item(service: SyncPlace.service, account: "1"), secret: Secret(count: 0), to: SyncPlace.group, at: .test)
    try vault.close()
    run("sqlite3", scene.fixture.path, "INSERT INTO node VALUES(x'010203',x'')")
    let store = try FileStore(at: scene.fixture.path)
    let repair = Repair(of: store, backups: scene.fixture.backups, from: nil, acceptsUnproven: false)
    var opened = try scene.open()
    let plan = try repair.plan(for: opened, step: { _, _ in })
    let kept = try repair.backUp(now: .test, step: { _, _ in })
    #expect(try repair.carryOut(plan, on: &opened, keeping: kept, now: .test, step: { _, _ in }) == nil)
    #expect(try opened.verify().isSound && opened.entries(in: SyncPlace.group).entries.count == 1)
  }

  /// The oldest backups go. By its name the one from which records were taken is among them, and stays. The backup of the repair counts apart.
  @Test func theBackupsOfTheRepairStay() throws {
    let scene = try RestoreScene()
    let fixture = scene.fixture
    let old = try #require(try fixture.backup(at: 10).path)
    try fixture.makeLaterBackups(12, of: old)
    let later = fixture.backups.paths.prefix(9)
    run("sqlite3", fixture.path, "UPDATE rec SET a=zeroblob(length(a)) WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')")
    let source = try ForeignVault(copiedFrom: old, besides: fixture.path, in: fixture.backups, step: { _, _ in })
    let repair = Repair(
      of: try FileStore(at: fixture.path), backups: fixture.backups, from: source, acceptsUnproven: false)
    var opened = try scene.open()
    let plan = try repair.plan(for: opened, step: { _, _ in })
    #expect(plan.count(.fromBackup) == 1)
    let kept = try repair.backUp(now: .test, step: { _, _ in })
    #expect(try repair.carryOut(plan, on: &opened, keeping: kept, now: .test, step: { _, _ in }) == nil)
    #expect(Set(fixture.backups.paths) == Set([kept, old] + later))
    #expect(try opened.verify().isSound)
  }

  /// A report goes with its backup, and no other file does.
  @Test func reportsDoNotStayWithoutTheirBackups() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    let directory = fixture.backups
    for time in 1...12 {
      try fixture.change()
      run("touch", "\(try #require(try fixture.backup(at: Int64(time)).path)).repair")
    }
    run("touch", "\(directory.path)/notes.repair")
    #expect(directory.prune(keeping: []).allSatisfy { $0.hasSuffix(".coffer") })
    #expect(directory.names.count == 10)
    let expected = directory.names.flatMap { [$0.text, "\($0.text).repair"] } + ["notes.repair"]
    #expect(Set(fixture.names(directory.path)) == Set(expected))
  }
}
