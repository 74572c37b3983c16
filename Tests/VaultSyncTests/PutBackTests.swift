import CofferTesting
import Foundation
import Testing
import VaultCore

@testable import Coffer
@testable import CofferSync
@testable import VaultSync

/// A vault that was restored from a backup, while the files of the device went on.
@Suite struct PutBackTests {
  /// The items that came since are no deletions of a person.
  @Test func whatCameSinceComesAgain() throws {
    let machines = try SynchroniseTests.machines(2)
    try machines[0].set("old", "first")
    try SynchroniseTests.settle(machines)
    let backup = machines[0].backup()
    try machines[1].set("new", "value")
    try machines[1].set("old", "second")
    try machines[0].set("own", "value")
    try SynchroniseTests.settle(machines)
    try machines[0].restore(backup)
    let report = try machines[0].synchronise()
    #expect(report.wasPutBack && report.deleted == 0 && report.changed == 0)
    try SynchroniseTests.settle(machines)
    let all = ["old": "second ", "new": "value ", "own": "value "]
    #expect(try machines.map { try $0.values() } == [all, all])
    #expect(try machines[0].session().conflicts().isEmpty)
  }

  /// A change after the restore was made without a look at the values that came since.
  @Test func whatIsChangedAfterARestoreIsAConflict() throws {
    let machines = try SynchroniseTests.machines(2)
    try machines[0].set("old", "first")
    try SynchroniseTests.settle(machines)
    let backup = machines[0].backup()
    try machines[1].set("old", "second")
    try SynchroniseTests.settle(machines)
    try machines[0].restore(backup)
    try machines[0].set("old", "third")
    try machines[0].set("fresh", "value")
    try SynchroniseTests.settle(machines)
    #expect(try machines[0].values() == machines[1].values())
    #expect(try machines[0].session().conflicts().map(\.name) == ["service/old"])
    for machine in machines { #expect(try machine.versions("old").isSuperset(of: ["second", "third"])) }
  }

  /// The version of a change after the restore is that of a value that is gone, and the engine, which has the value to compare, does not
  /// give it now.
  @Test func aVersionOfThePastIsNoSign() throws {
    let machines = try SynchroniseTests.machines(2)
    let large = String(repeating: "0123456789", count: 20_000)
    try machines[0].set("large", large + "1")
    try SynchroniseTests.settle(machines)
    let backup = machines[0].backup()
    try machines[0].set("large", large + "2")
    let version = try machines[0].entry("large")?.version
    try SynchroniseTests.settle(machines)
    try machines[0].restore(backup)
    try machines[0].set("large", large + "3")
    #expect(try machines[0].entry("large")?.version == version)
    machines[0].engine.givesObjects = false
    #expect(try machines[0].synchronise().wasPutBack)
    machines[0].engine.givesObjects = true
    try SynchroniseTests.settle(machines)
    #expect(try machines[0].values() == machines[1].values())
    for machine in machines { #expect(try machine.versions("large").isSuperset(of: [large + "2", large + "3"])) }
  }

  /// A backup of an item that the others have deleted since.
  @Test func whatTheOthersHaveDeletedGoes() throws {
    let machines = try SynchroniseTests.machines(2)
    try machines[0].set("old", "first")
    try SynchroniseTests.settle(machines)
    let backup = machines[0].backup()
    try machines[1].remove("old")
    try SynchroniseTests.settle(machines)
    try machines[0].restore(backup)
    try SynchroniseTests.settle(machines)
    #expect(try machines[0].values().isEmpty && machines[1].values().isEmpty)
    #expect(try machines[0].versions("old") == ["first"])
  }

  /// The entries of the accepted history are kept, and mend an engine that is put back afterwards.
  @Test func anAcceptedHistoryMendsAnEngine() throws {
    let machines = try SynchroniseTests.machines(2)
    for value in ["first", "second", "third"] {
      try machines[0].set("bob", value)
      try SynchroniseTests.settle(machines)
    }
    let log = machines[0].engine.shared
    log.log[log.count - 1] = [UInt8](repeating: 7, count: 400)
    for machine in machines {
      #expect(throws: Halt.replaced) { try machine.synchronise() }
      try machine.session().acceptHistory(of: machine.engine)
    }
    try SynchroniseTests.settle(machines)
    log.log.removeLast(log.count - 2)
    try SynchroniseTests.settle(machines)
    try machines[1].set("bob", "fourth")
    try SynchroniseTests.settle(machines)
    #expect(try machines.map { try $0.values() } == [["bob": "fourth "], ["bob": "fourth "]])
  }

  /// The entries of the former history are there until the state is replaced: they tell which values were replaced, and which were sent.
  @Test func aHistoryIsAcceptedAsAWhole() throws {
    let machines = try SynchroniseTests.machines(2)
    for account in ["p", "q", "r"] { try machines[0].set(account, "first") }
    try SynchroniseTests.settle(machines)
    let shared = machines[0].engine.shared
    let count = shared.log.count
    let large = String(repeating: "x", count: 100_000)
    for (account, value) in [("p", "second"), ("r", large)] { try machines[0].set(account, value) }
    try machines[0].synchronise()
    (shared.log, shared.objects) = (Array(shared.log.prefix(count)), [:])
    try machines[1].set("q", "other")
    try machines[1].synchronise()
    #expect(throws: Halt.replaced) { try machines[0].synchronise() }
    try machines[0].set("p", "third")
    do {
      let session = try machines[0].session()
      let state = machines[0].directory.appending(path: "sync/\(session.keys.space)/state")
      // A directory in its place: the new state is not put there.
      let aside = machines[0].directory.appending(path: "aside")
      try FileManager.default.moveItem(at: state, to: aside)
      try FileManager.default.createDirectory(at: state.appending(path: "in"), withIntermediateDirectories: true)
      #expect(throws: (any Error).self) { try session.acceptHistory(of: machines[0].engine) }
      try FileManager.default.removeItem(at: state)
      try FileManager.default.moveItem(at: aside, to: state)
    }
    try machines[0].session().acceptHistory(of: machines[0].engine)
    let log = machines[0].directory.appending(path: "sync/\(try machines[0].session().keys.space)/log")
    #expect(try FileManager.default.contentsOfDirectory(atPath: log.path).count == machines[0].session().state.replica.count)
    for _ in 0..<2 { for machine in machines { try machine.synchronise() } }
    for machine in machines {
      #expect(try machine.values() == ["p": "third ", "q": "other ", "r": large + " "])
      #expect(try machine.session().conflicts().isEmpty)
    }
  }

  @Test func aGroupThatIsSharedAfterARestoreLosesNothing() throws {
    let machines = try SynchroniseTests.machines(2)
    let other = try AccessGroup("other")
    try machines[0].set("bob", "value", in: other)
    try machines[0].set("old", "first")
    try SynchroniseTests.settle(machines)
    let backup = machines[0].backup()
    try machines[0].set("old", "second")
    try SynchroniseTests.settle(machines)
    try machines[0].restore(backup)
    try machines[0].session().share(other, others: [])
    try SynchroniseTests.settle(machines)
    #expect(try machines[0].entry("bob", in: other) != nil)
    #expect(try machines[1].session().offeredGroups()[other] == 1)
  }

  /// It crashed while it wrote, and then its disk has damaged the plan: the values that it wrote are no changes of a person, and changes of
  /// a person are kept.
  /// A part that is missing at its end counts as well.
  @Test(arguments: [nil, "third"], [0, 1]) func aDamagedPlanLosesNothing(change: String?, partCount: Int) throws {
    let machines = try SynchroniseTests.machines(2)
    try machines[0].set("old", "first")
    try SynchroniseTests.settle(machines)
    try machines[0].set("old", "second")
    try machines[0].synchronise()
    let space = try #require(DeviceKeys.spaces(in: machines[1].person).first)
    let plan = machines[1].directory.appending(path: "sync/\(space)/plan")
    var calls = 0
    while try machines[1].values() != ["old": "second "] {
      machines[1].crash.callsUntilCrash = calls
      _ = try? machines[1].synchronise()
      calls += 1
    }
    machines[1].crash.callsUntilCrash = nil
    #expect(FileManager.default.fileExists(atPath: plan.path))
    var (end, bytes) = (8, [UInt8](try Data(contentsOf: plan)))
    for _ in 0..<partCount { end += 4 + Int(bytes[end]) + Int(bytes[end + 1]) << 8 }
    bytes = partCount == 0 ? [] : Array(bytes.prefix(end))
    try Data(bytes).write(to: plan)
    if let change { try machines[1].set("old", change) }
    let report = try machines[1].synchronise()
    #expect(report.wasPlanLost && !report.wasPutBack && report.changed == (change == nil ? 0 : 1))
    #expect(try !machines[1].synchronise().wasPlanLost && !FileManager.default.fileExists(atPath: plan.path))
    try SynchroniseTests.settle(machines)
    #expect(try machines[0].values() == machines[1].values())
    #expect(try machines[0].session().conflicts().count == (change == nil ? 0 : 1))
    for machine in machines { #expect(try machine.versions("old").isSuperset(of: ["second", change ?? "second"])) }
  }
}
