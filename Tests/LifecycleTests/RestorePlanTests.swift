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

@Suite struct RestorePlanTests {
  /// Damage of a row, which the header that proves it does not show.
  enum Damage: String, CaseIterable {
    case zeroed = "UPDATE rec SET s=zeroblob(length(s)) WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')"
    case removed = "DELETE FROM rec WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')"
    case node = "UPDATE node SET b=zeroblob(length(b))"
    case another = "INSERT INTO rec SELECT x'55555555555555555555555555555555',grp,m,a,d,s FROM rec WHERE id<x'01' LIMIT 1"
  }

  /// A backup of the present state, and then damage under the same header.
  private func damaged(_ sql: String) throws -> (scene: RestoreScene, backup: String) {
    let scene = try RestoreScene()
    let backup = "\(scene.fixture.directory)/new"
    _ = try Backup.make(of: FileStore(at: scene.fixture.path), at: .file(backup), now: .test, step: { _, _ in })
    run("sqlite3", scene.fixture.path, sql)
    return (scene, backup)
  }

  @Test(arguments: Damage.allCases) func aDamagedVaultIsRestoredToTheStateThatItsHeaderSays(damage: Damage) throws {
    let (scene, backup) = try damaged(damage.rawValue)
    #expect(try !scene.open().verify().isSound)
    let restoration = try scene.restoration(of: backup)
    let plan = try restoration.plan(step: { _, _ in })
    #expect(plan.way == .continuing && plan.problemCount > 0 && plan.generation == 3)
    let outcome = try restoration.carryOut(now: .test, step: { _, _ in })
    #expect(outcome.generation == 4)
    #expect(try scene.open().verify().isSound && scene.accounts() == ["0", "1", "2", "later"])
  }

  /// Slots that were changed do not go on.
  @Test func damagedSlotsAreReplaced() throws {
    let (scene, backup) = try damaged("INSERT INTO hdr SELECT 2,v FROM hdr WHERE k=1")
    #expect(throws: VaultError(.slotsForged)) { _ = try scene.open().verify() }
    let restoration = try scene.restoration(of: backup)
    let plan = try restoration.plan(step: { _, _ in })
    #expect(plan.way == .replacing && plan.problemCount == 1)
    _ = try restoration.carryOut(now: .test, step: { _, _ in })
    #expect(try scene.open().verify().isSound && scene.accounts() == ["0", "1", "2", "later"])
  }

  /// Slots that cannot be read are damage of the whole file, which is kept.
  @Test(arguments: [
    "UPDATE hdr SET v=CAST(x'07'||substr(v,2) AS BLOB) WHERE k=1", "UPDATE hdr SET v=v||x'00' WHERE k=1",
    "UPDATE hdr SET v=substr(v,1,100) WHERE k=1", "UPDATE hdr SET v=CAST(x'00'||v AS BLOB) WHERE k=9",
  ]) func aFileWithUnreadableSlotsIsPutAside(sql: String) throws {
    let (scene, backup) = try damaged(sql)
    let restoration = try scene.restoration(of: backup)
    #expect(try restoration.plan(step: { _, _ in }).way == .exchanging)
    let outcome = try restoration.carryOut(now: .test, step: { _, _ in })
    #expect(try scene.open().verify().isSound && scene.accounts() == ["0", "1", "2", "later"])
    let kept = try #require(outcome.kept)
    #expect(scene.fixture.names(kept) == ["vault.coffer"])
  }

  @Test func nothingIsDoneForASoundVaultInThisState() throws {
    let (scene, backup) = try damaged("SELECT 1")
    let restoration = try scene.restoration(of: backup)
    #expect(try restoration.plan(step: { _, _ in }).way == .nothing)
    #expect(try restoration.carryOut(now: .test, step: { _, _ in }).kept == nil)
    #expect(try scene.open().generation() == 3 && scene.fixture.backups.names.isEmpty)
  }

  /// Another program writes after the plan was shown, and before the answer to it.
  @Test func aPlanThatDoesNotHoldAnyMoreIsNotCarriedOut() throws {
    let scene = try RestoreScene()
    let restoration = try scene.restoration()
    var plans: [Restoration.Plan] = []
    let outcome = try restoration.carryOut(
      now: .test, step: { _, _ in },
      agree: { plan in
        plans.append(plan)
        if plans.count == 1 { try scene.add("between") }
      })
    #expect(plans.map { $0.comparison?.onlyHere } == [1, 2] && plans.map(\.generation) == [3, 4])
    #expect(outcome.generation == 5 && scene.fixture.backups.names.count == 1)
    #expect(try scene.fixture.open(outcome.kept).entries().entries.count == 5)
  }

  /// The same for a plan by which nothing is to be done, or a file that cannot be read is to go.
  @Test func aVaultThatHasComeMeanwhileIsNotReplacedUnseen() throws {
    let scene = try RestoreScene()
    run("mv", scene.fixture.path, "\(scene.fixture.directory)/away")
    for begin in ["rm -f \(scene.fixture.path)", "umask 077; echo none >\(scene.fixture.path)"] {
      run("sh", "-c", begin)
      let restoration = try scene.restoration()
      var ways: [Restoration.Way] = []
      let outcome = try restoration.carryOut(
        now: .test, step: { _, _ in },
        agree: { plan in
          ways.append(plan.way)
          if ways.count == 1 {
            run("sh", "-c", "rm -f \(scene.fixture.path); cp \(scene.fixture.directory)/away \(scene.fixture.path)")
          }
        })
      #expect(ways.count == 2 && ways[1] == .continuing && outcome.way == .continuing)
    }
    run("sh", "-c", "rm -f \(scene.fixture.path)*; cp \(scene.backup) \(scene.fixture.path)")
    let restoration = try scene.restoration()
    var ways: [Restoration.Way] = []
    _ = try restoration.carryOut(
      now: .test, step: { _, _ in },
      agree: { plan in
        ways.append(plan.way)
        guard ways.count == 1 else { return }
        var vault = try Vault.openThrowAway(FileStore(at: scene.fixture.path))
        try vault.add(Item(service: "item", account: "between"), secret: Secret(testing: "x"), at: .test)
        try vault.close()
      })
    #expect(ways.first == .nothing && ways.count == 2)
    #expect(try Vault.openThrowAway(FileStore(at: scene.fixture.path)).entries().entries.count == 3)
  }
}
