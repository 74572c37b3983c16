import Children
import CofferStorage
import CofferTesting
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
      #expect(throws: Ended.self) {
        try repair.carryOut(plan, on: &opened) { done, _ in if done >= limit { throw Ended() } }
      }
      #expect(try opened.generation() == generation && !opened.verify().isSound)
    }
    let kept = try repair.backUp(now: .test, step: { _, _ in })
    steps = []
    try repair.carryOut(plan, on: &opened) { steps.append(($0, $1)) }
    #expect(steps.map(\.done) == steps.map(\.done).sorted() && steps.allSatisfy { $0.done < $0.total } && steps.count == 5)
    try repair.finish(plan, keeping: kept)
    #expect(try opened.verify().isSound && scene.fixture.names("\(scene.fixture.directory)/backups").count == 2)
  }
}
