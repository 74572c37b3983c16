import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import Coffer
@testable import CofferSync
@testable import VaultSync

/// A device that was removed, and asked to erase what it shares.
@Suite struct EraseTests {
  private static func pair() throws -> (Machine, Machine) {
    let shared = MemoryEngine()
    let (one, two) = (try Machine(1, shared), try Machine(2, shared))
    try one.found()
    try two.join(one)
    for account in ["a", "b", "c"] { try one.set(account, "secret") }
    try one.synchronise()
    try two.synchronise()
    try two.set("a", "changed")
    try two.remove("b")
    try two.person.add(
      Item(service: "service", account: "own"), secret: Secret(testing: "x"), group: Machine.group,
      accessible: .whenUnlockedThisDevice)
    try two.set("d", "other", in: .standard)
    try two.set("e", "new")
    return (one, two)
  }

  private static func remove(_ machine: Machine, by other: Machine, erase: Bool) throws {
    let session = try other.session()
    let ids = session.state.replica.membership.devices.keys.filter { $0 != session.state.replica.id }
    try session.remove(Array(ids), erase: erase)
    _ = try session.synchronise(with: other.engine)
  }

  @Test func itsSharedItemsGoWithTheirVersionsAndItsOwnStay() throws {
    let (one, two) = try Self.pair()
    try Self.remove(two, by: one, erase: true)
    #expect(throws: SyncError(.erased)) { try two.synchronise() }
    #expect(try two.values() == ["own": "x ", "e": "new ", "a": "changed "] && !two.versions("a").contains("secret"))
    #expect(try two.person.removedItems(in: Machine.group).isEmpty)
    #expect(try two.entry("d", in: .standard) != nil)
    #expect(try DeviceKeys.spaces(in: two.person).isEmpty)
    #expect(try one.values().count == 3)
  }

  @Test func withoutTheWishTheyStay() throws {
    let (one, two) = try Self.pair()
    try Self.remove(two, by: one, erase: false)
    #expect(throws: Halt.removed) { try two.synchronise() }
    #expect(try two.values().count == 4 && DeviceKeys.spaces(in: two.person).count == 1)
  }

  /// The keys lead to the files: they go last.
  @Test func aKillWhileItLeavesKeepsNoFiles() throws {
    let (one, _) = try Self.pair()
    do {
      let session = try one.session()
      one.crash.callsUntilCrash = 0
      #expect(throws: CrashPoint.Crash.self) { try session.forget() }
      one.crash.callsUntilCrash = nil
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: one.directory.appending(path: "sync").path).isEmpty)
    #expect(throws: SyncError(.stateMissing)) { try one.session() }
  }

  /// It goes on with the next pass.
  @Test(arguments: [3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42]) func aKillDelaysIt(calls: Int) throws {
    let (one, two) = try Self.pair()
    try Self.remove(two, by: one, erase: true)
    two.crash.callsUntilCrash = calls
    _ = try? two.synchronise()
    two.crash.callsUntilCrash = nil
    if try !DeviceKeys.spaces(in: two.person).isEmpty { #expect(throws: SyncError(.erased)) { try two.synchronise() } }
    #expect(try two.values() == ["own": "x ", "e": "new ", "a": "changed "])
  }
}
