import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import Coffer
@testable import CofferSync
@testable import VaultSync

/// The notes of a device about its passes.
@Suite struct NotesTests {
  private static let day: Int64 = 86_400_000

  private static func pass(_ machine: Machine, at time: Int64) throws {
    let session = try machine.session()
    session.clock = { time }
    _ = try session.synchronise(with: machine.engine)
  }

  private static func silent(_ machine: Machine) throws -> [String] {
    let state = try machine.session().state
    return state.notes.silentDevices(of: state.replica).map(\.name)
  }

  @Test func aFailureIsNotedUntilAPassIsDone() throws {
    let machine = try Machine(1, MemoryEngine())
    try machine.found()
    #expect(try machine.session().state.notes.lastPass != nil && machine.session().state.notes.failure == nil)
    machine.crash.callsUntilCrash = 0
    for text in ["no room\u{1B}[31m", "", String(repeating: "é", count: 3000)] {
      let session = try SpaceSession(nil, in: machine.person, files: machine.directory.path)
      session.clock = { 5000 }
      session.describe = { _ in (text, true) }
      // The vault itself answers.
      #expect(throws: CrashPoint.Crash.self) { _ = try session.synchronise(with: machine.engine) }
      let failure = try #require(session.state.notes.failure)
      #expect(failure.time == 5000 && failure.isOfSpace && failure.text.utf8.count <= 3 * SyncNotes.Failure.maximumByteCount)
      #expect(!failure.text.isEmpty && !failure.text.utf8.contains(0x1B))
    }
    let kept = try SpaceSession(nil, in: machine.person, files: machine.directory.path).state.notes
    #expect(kept.failure?.time == 5000 && kept.lastPass != nil)
    machine.crash.callsUntilCrash = nil
    try Self.pass(machine, at: 9000)
    #expect(try machine.session().state.notes.failure == nil && machine.session().state.notes.lastPass == 9000)
  }

  /// The program that stays makes many passes.
  @Test func aPassWithoutAChangeWritesTheNotesEachMinute() throws {
    let machine = try Machine(1, MemoryEngine())
    try machine.found()
    let file = machine.directory.path + "/sync/\(try machine.session().keys.space)/state"
    func content() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: file))) }
    try Self.pass(machine, at: 1_000_000)
    let before = try content()
    try Self.pass(machine, at: 1_059_999)
    #expect(try content() == before)
    try Self.pass(machine, at: 1_060_000)
    #expect(try content() != before)
    #expect(try machine.session().state.notes.lastPass == 1_060_000)
  }

  @Test func aDeviceThatAppendsNothingForAWeekIsSilent() throws {
    let shared = MemoryEngine()
    let (one, two) = (try Machine(1, shared), try Machine(2, shared))
    try one.found()
    try two.join(one)
    let start: Int64 = 1_000_000
    try Self.pass(one, at: start)
    #expect(try Self.silent(one).isEmpty)
    // A pass of this device alone shows it: one that was off itself has read nothing.
    try Self.pass(one, at: start + 7 * Self.day)
    #expect(try Self.silent(one).isEmpty)
    try Self.pass(one, at: start + 9 * Self.day)
    #expect(try Self.silent(one) == ["device 2"])
    try two.set("a", "x")
    try two.synchronise()
    try Self.pass(one, at: start + 9 * Self.day + 1)
    #expect(try Self.silent(one).isEmpty)
    // A clock that is set back counts anew.
    try Self.pass(one, at: start)
    try Self.pass(one, at: start + 9 * Self.day)
    #expect(try Self.silent(one) == ["device 2"])
  }

  /// A recovery key waits in a drawer.
  @Test func aRecoveryKeyIsNotSilent() throws {
    let machine = try Machine(1, MemoryEngine())
    try machine.found()
    guard let key = Key(try Secret(testing: [UInt8](repeating: 7, count: 32))) else { throw Halt.keyMissing }
    let session = try machine.session()
    let identity = try DeviceIdentity(recovery: key, space: session.keys.space, person: "ada", name: "recovery key")
    try session.add(identity.record(.owner, isRecovery: true))
    session.clock = { 1000 }
    _ = try session.synchronise(with: machine.engine)
    session.clock = { 1000 + 30 * Self.day }
    _ = try session.synchronise(with: machine.engine)
    #expect(session.state.replica.membership.devices.count == 2)
    #expect(session.state.notes.silentDevices(of: session.state.replica).isEmpty)
  }
}
