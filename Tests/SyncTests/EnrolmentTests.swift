import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferSync
@testable import SyncSimulation

/// A device is added by a number that a person compares. Section 8 of docs/sync-format.md.
@Suite struct EnrolmentTests {
  private static let random = [UInt8](0..<64)

  @Test func aDeviceIsAddedByItsNumber() throws {
    var space = try Space()
    let identity = try Space.identity(1)
    var joiner = Enrolment.Joiner(identity, random: Self.random)
    #expect(joiner.number == nil)
    var adder = try Enrolment.Adder(space.owner, commitment: joiner.commitment, random: Array(Self.random.prefix(32)))
    let (m2, names) = try joiner.answer(adder.message)
    let shown = try adder.take(m2, names: names, role: .member)
    #expect(shown.person == "ada" && shown.name == "device 1")
    let record = try adder.confirm(#require(joiner.number))
    #expect(record == identity.record(.member))
    space.owner.add(record)
    try space.synchronise(&space.owner)
    let welcome = try joiner.open(adder.welcome(#require(Welcome(space.owner))))
    let replica = try Replica(joining: identity, welcome, space.engine, ValueKey())
    #expect(replica.chain == space.owner.chain && replica.isMember)
  }

  @Test func aWrongNumberEndsTheExchange() throws {
    let space = try Space()
    var joiner = Enrolment.Joiner(try Space.identity(1), random: Self.random)
    var adder = try Enrolment.Adder(space.owner, commitment: joiner.commitment, random: Array(Self.random.prefix(32)))
    let (m2, names) = try joiner.answer(adder.message)
    _ = try adder.take(m2, names: names, role: .member)
    let number = try #require(joiner.number)
    #expect(throws: Enrolment.Refusal.number) { try adder.confirm((number + 1) % 100_000_000) }
    #expect(throws: Enrolment.Refusal.message) { try adder.confirm(number) }
    #expect(throws: Enrolment.Refusal.message) { try joiner.answer(adder.message) }
  }

  /// A third party between both sends each of them other keys: the numbers differ, and neither can be changed afterwards.
  @Test func whatLiesBetweenIsNoticed() throws {
    let space = try Space()
    var joiner = Enrolment.Joiner(try Space.identity(1), random: Self.random)
    var between = Enrolment.Joiner(try Space.identity(2), random: Self.random)
    var adder = try Enrolment.Adder(space.owner, commitment: between.commitment, random: Array(Self.random.prefix(32)))
    let theirs = try Enrolment.Adder(
      Space().owner, commitment: joiner.commitment, random: [UInt8](repeating: 1, count: 32))
    let (m2, names) = try between.answer(adder.message)
    let (ownM2, ownNames) = try joiner.answer(theirs.message)
    // The commitment comes first, so that m2 cannot be chosen by the answer to it.
    var wrong = adder
    #expect(throws: Enrolment.Refusal.commitment) { try wrong.take(ownM2, names: ownNames, role: .member) }
    wrong = adder
    #expect(throws: Enrolment.Refusal.names) { try wrong.take(m2, names: ownNames, role: .member) }
    wrong = adder
    #expect(throws: Enrolment.Refusal.names) { try wrong.take(m2, names: Array(names.dropLast()), role: .member) }
    #expect(throws: Enrolment.Refusal.message) { try wrong.take(m2, names: names, role: .member) }
    _ = try adder.take(m2, names: names, role: .member)
    let number = try #require(joiner.number)
    #expect(number != between.number)
    #expect(throws: Enrolment.Refusal.number) { try adder.confirm(number) }
  }

  @Test func aWelcomeOfAnotherHistoryIsRefused() throws {
    var space = try Space()
    let identity = try Space.identity(1)
    space.owner.add(identity.record(.member))
    try space.synchronise(&space.owner)
    var elsewhere = space.owner
    elsewhere.position.chain = .zero
    let welcome = try #require(Welcome(elsewhere))
    #expect(throws: Halt.replaced) { try Replica(joining: identity, welcome, space.engine, ValueKey()) }
    #expect(throws: Halt.notAMember) {
      try Replica(joining: Space.identity(2), #require(Welcome(space.owner)), space.engine, ValueKey())
    }
    var ahead = space.owner
    ahead.position.number += 1
    #expect(throws: Halt.entriesMissing) { try Replica(joining: identity, #require(Welcome(ahead)), space.engine, ValueKey()) }
  }

  /// Its text has a checksum of its own: section 2 of docs/sync-format.md.
  @Test func theTextOfARecoveryKeyIsNoneOfAVault() throws {
    let text = "YDA4FQ6-EYXDMPS-GJZLF4Z-TOOZ7IN-DUWT2TK-5NV6Y3H-NNXXG53-3PWYUUB"
    let key = try RecoveryKey.parse(Secret(testing: text), label: DeviceIdentity.recoveryLabel)
    #expect(key.secret.copyIntoUnprotectedBytes() == Array(0xC0...0xDF))
    #expect(throws: VaultError(.recoveryKeyMalformed)) { _ = try RecoveryKey.parse(Secret(testing: text)) }
    let random = try RecoveryKey.random(label: DeviceIdentity.recoveryLabel)
    _ = try RecoveryKey.parse(random, label: DeviceIdentity.recoveryLabel)
  }

  /// No other device is there any more: the log has all.
  @Test func aRecoveryKeyJoinsAlone() throws {
    var space = try Space()
    guard let key = Key(try Secret(testing: [UInt8](repeating: 7, count: 32))) else { throw Halt.keyMissing }
    let identity = try DeviceIdentity(recovery: key, space: space.owner.space, person: "ada", name: "recovery key")
    #expect(throws: Halt.notAMember) {
      _ = try Replica(recovering: identity, space: space.owner.space, space.engine, ValueKey())
    }
    let old = try Space.write("old", "x", in: &space.owner)
    space.owner.add(identity.record(.owner, isRecovery: true))
    try space.synchronise(&space.owner)
    // A later epoch, and entries that were deleted.
    let bob = try space.join(1, .member)
    space.owner.remove([bob.id])
    try space.synchronise(&space.owner)
    let new = try Space.write("new", "y", in: &space.owner)
    try space.synchronise(&space.owner)
    for _ in 0..<2 { #expect(try space.appendCheckpoint()) }
    try space.engine.deleteEntries(space.deletableEntries)
    // A program that knows the public key seals a false key for it, in an entry that is none.
    let last = try #require(try space.engine.read(from: space.owner.count - 1, limit: 1).first)
    let wrong = try SealedKeys.seal(LockedBytes(.random(count: Key.byteCount)), for: [identity.record(.reader)])
    space.engine.strays = [NumberedEntry(space.owner.count, Array(last.bytes.prefix(64)) + [0, 0, 0, 0, 80, 0, 0, 0] + wrong)]
    var replica = try Replica(recovering: identity, space: space.owner.space, space.engine, ValueKey())
    #expect(try Space.secrets(old, in: replica) == ["x"] && Space.secrets(new, in: replica) == ["y"])
    // It adds a device, which is all that it is for.
    space.engine.strays = []
    let next = try Space.identity(5)
    replica.add(next.record(.owner))
    try space.synchronise(&replica)
    let joined = try Replica(joining: next, #require(Welcome(replica)), space.engine, ValueKey())
    #expect(try Space.secrets(new, in: joined) == ["y"] && joined.membership[next.id]?.role == .owner)
    try space.synchronise(&space.owner)
    #expect(space.owner.membership[next.id] != nil)
    space.owner.remove([identity.id])
    try space.synchronise(&space.owner)
    #expect(throws: Halt.self) { _ = try Replica(recovering: identity, space: space.owner.space, space.engine, ValueKey()) }
  }

  /// The device was off, and the entries up to its removal were deleted meanwhile.
  @Test func theWishIsReadBehindAGap() throws {
    var space = try Space()
    var bob = try space.join(1, .member)
    for number in 0..<3 { try Space.write("\(number)", "x", in: &space.owner) }
    try space.synchronise(&space.owner)
    space.owner.remove([bob.id], erase: true)
    try space.synchronise(&space.owner)
    for _ in 0..<2 { #expect(try space.appendCheckpoint()) }
    try space.engine.deleteEntries(space.deletableEntries)
    #expect(throws: Halt.removed) { try space.synchronise(&bob) }
    #expect(bob.isErased)
    #expect(try bob.restored().isErased)
  }

  @Test func aRecoveryKeyIsADevice() throws {
    var space = try Space()
    func recovered() throws -> DeviceIdentity {
      guard let key = Key(try Secret(testing: [UInt8](repeating: 7, count: 32))) else { throw Halt.keyMissing }
      return try DeviceIdentity(recovery: key, space: space.owner.space, person: "ada", name: "recovery")
    }
    let identity = try recovered()
    space.owner.add(identity.record(.owner, isRecovery: true))
    try space.synchronise(&space.owner)
    let item = try Space.write("bob", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    let again = try recovered()
    let replica = try Replica(joining: again, #require(Welcome(space.owner)), space.engine, ValueKey())
    #expect(try Space.secrets(item, in: replica) == ["x"] && replica.membership[again.id]?.isRecovery == true)
  }
}
