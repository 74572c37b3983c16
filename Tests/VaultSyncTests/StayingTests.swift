import CofferRequests
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import Coffer
@testable import CofferSync
@testable import VaultSync

/// A session that stays, and is told of changes, as by the agent.
private final class Staying {
  let machine: Machine
  let session: SpaceSession
  private let source: any ChangeSource
  private var changes = VaultChanges.all

  init(_ machine: Machine) throws {
    self.machine = machine
    source = machine.keychain.transport.watch()
    session = try machine.session()
    session.rest()
  }

  /// A pass with the changes that were told since the last one.
  @discardableResult
  func pass() throws -> SyncReport {
    while let notice = try source.next() {
      switch KeychainChange(notice) {
      case .added(let reference), .updated(let reference), .removed(let reference): changes.add(reference)
      case .missed, .locked, .unlocked: changes.add(.all)
      }
    }
    let taken = changes
    changes = .none
    try session.resume()
    defer { session.rest() }
    let report = try session.synchronise(with: machine.engine, changes: taken)
    changes.add(report.open)
    return report
  }
}

@Suite struct StayingTests {
  private func staying(_ count: Int) throws -> [Staying] { try SynchroniseTests.machines(count).map { try Staying($0) } }

  private func settle(_ all: [Staying]) throws { for _ in 0..<8 { for one in all { try one.pass() } } }

  @Test func changesTravelBothWays() throws {
    let all = try staying(2)
    try settle(all)
    try all[0].machine.set("bob", "first")
    #expect(try all[0].pass().changed == 1)
    #expect(try all[1].pass().written == 1)
    try settle(all)
    try all[1].machine.set("bob", "second", label: "Bob")
    #expect(try all[1].pass().changed == 1)
    #expect(try all[0].pass().written == 1)
    #expect(try all[0].machine.values() == ["bob": "second Bob"])
    try settle(all)
    try all[0].machine.remove("bob")
    #expect(try all[0].pass().deleted == 1)
    #expect(try all[1].pass().removed == 1)
  }

  /// The number of items does not matter: they are neither listed nor read, and nothing is written.
  @Test func aPassWithoutAChangeAsksTheVaultForNothing() throws {
    let all = try staying(2)
    for number in 0..<20 { try all[0].machine.set("item \(number)", "value") }
    try settle(all)
    let (calls, commits) = (all[1].machine.crash.calls, all[1].machine.store.commitCount)
    let state = try all[1].machine.stateFile()
    #expect(try all[1].pass().pending == 0)
    // The read of the log.
    #expect(all[1].machine.crash.calls == calls + 1 && all[1].machine.store.commitCount == commits)
    #expect(try all[1].machine.stateFile() == state)
  }

  @Test func aPassCostsWhatHasChanged() throws {
    func calls(items: Int) throws -> [Int] {
      let all = try staying(2)
      for number in 0..<items { try all[0].machine.set("item \(number)", "value") }
      try settle(all)
      try all[0].machine.set("item 0", "other")
      return try all.map { one in
        let before = one.machine.crash.calls
        try one.pass()
        return one.machine.crash.calls - before
      }
    }
    #expect(try calls(items: 3) == calls(items: 30))
  }

  /// Another process has made a pass meanwhile.
  @Test func whatOtherProcessesWriteIsReadAnew() throws {
    let all = try staying(2)
    try settle(all)
    try all[0].machine.set("bob", "first")
    try all[0].machine.synchronise()
    try all[1].machine.synchronise()
    try all[1].machine.set("bob", "second")
    try settle(all)
    #expect(try all.map { try $0.machine.values() } == [["bob": "second "], ["bob": "second "]])
    #expect(try all[0].session.conflicts().isEmpty && all[1].machine.versions("bob") == ["first", "second"])
  }

  /// Many deletions one after the other wait as many at once do.
  @Test func deletionsOneByOneWaitForAPerson() throws {
    let all = try staying(2)
    for number in 0..<60 { try all[0].machine.set("item \(number)", "value") }
    try settle(all)
    for number in 0..<60 {
      try all[0].machine.remove("item \(number)")
      try all[0].pass()
    }
    try settle(all)
    #expect(all[0].session.state.replica.pending.filter(\.isHeld).count == 10)
    #expect(try all[1].machine.values().count == 10)
  }

  /// The engine does not give the large value with which an item is to be compared: the next pass looks at it again.
  @Test func whatIsNotComparedIsLookedAtAgain() throws {
    let all = try staying(2)
    let large = String(repeating: "0123456789", count: 20_000)
    try all[0].machine.set("large", large)
    try settle(all)
    all[1].machine.engine.givesObjects = false
    try all[1].machine.set("large", large, label: "Bob")
    let reference = try #require(try all[1].machine.entry("large")?.reference)
    for _ in 0..<3 {
      let report = try all[1].pass()
      #expect(report.changed == 0 && report.pending == 0 && report.open == .items([reference]))
    }
    all[1].machine.engine.givesObjects = true
    #expect(try all[1].pass().changed == 1)
    #expect(try all[1].pass().open.isEmpty)
    #expect(try all[0].pass().written == 1)
    #expect(try all[0].machine.values() == ["large": large + " Bob"])
  }

  /// Also if it has come with many others, which are added by one request.
  @Test func aLargeValueAmongManyNeedsNoEngine() throws {
    let all = try staying(2)
    try settle(all)
    for number in 0..<12 { try all[0].machine.set("item \(number)", String(repeating: "x", count: number == 3 ? 70_000 : 5)) }
    try all[0].pass()
    #expect(try all[1].pass().written == 12)
    all[1].machine.engine.givesObjects = false
    let report = try all[1].pass()
    #expect(report.changed == 0 && report.unread.isEmpty)
  }

  /// The engine does not give the long attributes of an item that was removed.
  @Test func aDeletionThatWaitsForTheEngineIsLookedAtAgain() throws {
    let all = try staying(2)
    try all[0].machine.set("long", "value")
    let entry = try #require(try all[0].machine.entry("long"))
    try all[0].machine.person.update(entry.reference) { item in
      for index in 0..<3 { item["user.\(index)"] = String(repeating: "x", count: 60_000) }
    }
    try settle(all)
    all[1].machine.engine.givesObjects = false
    try all[1].machine.remove("long")
    for _ in 0..<3 { #expect(try all[1].pass().open == .all) }
    all[1].machine.engine.givesObjects = true
    // If they are lost, it waits without that.
    let objects = all[0].machine.engine.shared.objects
    all[0].machine.engine.shared.objects = [:]
    #expect(try all[1].pass().open.isEmpty)
    all[0].machine.engine.shared.objects = objects
    #expect(try all[1].machine.synchronise().deleted == 1)
    try settle(all)
    #expect(try all[0].machine.values().isEmpty)
  }

  /// Passes that look at some items lead to the state that a look at all of them finds.
  @Test(arguments: 0..<12) func nothingIsMissed(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let all = try staying(3)
    for step in 0..<60 {
      let one = all[Int.random(in: 0..<3, using: &random)]
      let name = "item \(Int.random(in: 0..<5, using: &random))"
      let value = "value \(step)".padding(toLength: Bool.random(using: &random) ? 70_000 : 10, withPad: "x", startingAt: 0)
      switch Int.random(in: 0..<11, using: &random) {
      case 0: try one.machine.remove(name)
      case 1: try one.machine.rename(name, to: "item \(Int.random(in: 0..<5, using: &random))")
      case 2...4:
        try one.machine.set(name, value, label: Bool.random(using: &random) ? "label \(step)" : nil)
      case 5: try one.machine.synchronise()
      case 6: one.machine.engine.givesObjects.toggle()
      default: try one.pass()
      }
    }
    for one in all { one.machine.engine.givesObjects = true }
    try settle(all)
    let values = try all.map { try $0.machine.values() }
    #expect(values[0] == values[1] && values[1] == values[2])
    for one in all {
      let commits = one.machine.store.commitCount
      let report = try one.machine.synchronise()
      #expect(report.changed + report.deleted + report.written + report.removed == 0 && report.pending == 0)
      #expect(one.machine.store.commitCount == commits)
    }
  }
}

extension Machine {
  /// Sealed, so that it is another one after each writing.
  fileprivate func stateFile() throws -> Data {
    let spaces = directory.appending(path: "sync")
    let space = try #require(try FileManager.default.contentsOfDirectory(atPath: spaces.path).first)
    return try Data(contentsOf: spaces.appending(path: "\(space)/state"))
  }
}
