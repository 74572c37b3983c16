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
