import AccessRights
import CofferTesting
import CofferWire
import FakePinentry
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import Coffer

/// Items that say themselves that the owner is to be asked.
@Suite(.timeLimit(.minutes(60))) struct ItemConfirmationTests {
  let teams: Teams
  let bench: AskingBench
  let reference: Reference

  init() throws {
    teams = try Teams()
    bench = try AskingBench(teams.store, teams.editor)
    reference = try Self.add(0, teams)
  }

  private static func add(_ minutes: UInt64, _ teams: Teams, _ service: String = "mail") throws -> Reference {
    var item = Item(service: service, account: "ada")
    item.confirmMinutes = minutes
    return try teams.keychain(teams.editor).add(item, secret: Secret(testing: "one"))
  }

  private func read(_ reference: Reference) -> KeychainError.Code? {
    KeychainTests.code { try bench.keychain.secret(of: reference) }
  }

  @Test func eachReadIsAskedAlsoOfWhoMadeIt() throws {
    try bench.answer(AskingBench.once)
    #expect(read(reference) == nil && read(reference) == nil)
    #expect(bench.questionCount == 2)
    // There is no button for longer.
    #expect(bench.shown("SETDESC")?.contains("longer") == false)
    try bench.answer(AskingBench.lease)
    #expect(read(reference) == .confirmationRefused)
  }

  /// The attribute of the present item says nothing of its versions.
  @Test func versionsAreAskedAboutEachTime() throws {
    let editor = try teams.keychain(teams.editor)
    let plain = try editor.add(Item(service: "plain", account: "ada"), secret: Secret(testing: "one"))
    _ = try editor.update(plain, secret: Secret(testing: "two"))
    let versions: [KeychainVersion] = try bench.keychain.history(of: plain)
    let former = try #require(versions.last).number
    try bench.answer(AskingBench.once)
    for _ in 0..<2 { #expect(KeychainTests.code { _ = try bench.keychain.secret(of: plain, version: former) } == nil) }
    #expect(bench.questionCount == 2)
    try bench.answer(AskingBench.refusal)
    #expect(KeychainTests.code { try bench.keychain.restore(plain, version: former) } == .confirmationRefused)
    #expect(read(plain) == nil && bench.questionCount == 3)
  }

  @Test func theItemSaysForHowLong() throws {
    let three = try Self.add(3, teams, "three")
    let long = try Self.add(.max, teams, "long")
    try bench.answer(AskingBench.lease)
    #expect(read(three) == nil)
    #expect(bench.shown("SETDESC")?.contains("for 3 minutes") == true)
    #expect(read(long) == nil)
    #expect(bench.shown("SETDESC")?.contains("for 525600 minutes") == true)
    try bench.answer(AskingBench.refusal)
    bench.clock.advance(3 * 60_000 - 1)
    #expect(read(three) == nil && bench.questionCount == 2)
    bench.clock.advance(1)
    #expect(read(three) == .confirmationRefused)
    // Another item is another thing, though it lies in the same group.
    #expect(read(reference) == .confirmationRefused && bench.questionCount == 4)
    #expect(read(long) == nil)
  }

  @Test func aLeaseEndsWhenTheItemSaysAnotherTime() throws {
    let three = try Self.add(3, teams, "three")
    try bench.answer(AskingBench.lease)
    #expect(read(three) == nil)
    try teams.owner.update(three) { $0.confirmMinutes = 2 }
    try bench.answer(AskingBench.refusal)
    #expect(read(three) == .confirmationRefused)
  }

  /// A program with the right to write cannot remove the question.
  @Test func theWishIsNotTakenAwayUnasked() throws {
    try bench.answer(AskingBench.refusal)
    for minutes: UInt64? in [nil, 5] {
      #expect(
        KeychainTests.code { try bench.keychain.update(reference) { $0.confirmMinutes = minutes } } == .confirmationRefused)
      #expect(
        KeychainTests.code { try bench.keychain.update(reference, secret: Secret(testing: "x")) { $0.confirmMinutes = minutes } }
          == .confirmationRefused)
    }
    #expect(bench.shown("SETDESC")?.contains("wants to change when you are asked about%0Amail/ada") == true)
    #expect(KeychainTests.code { try bench.keychain.move(reference, to: own) } == .confirmationRefused)
    #expect(try bench.keychain.entry(reference).item.confirmMinutes == 0)
    // A change that keeps the attribute is not asked about, also under another name; the attribute moves with the item.
    let count = bench.questionCount
    let renamed = try bench.keychain.update(reference, secret: Secret(testing: "two")) { $0["account"] = "bob" }
    #expect(bench.questionCount == count)
    #expect(read(renamed) == .confirmationRefused)
    bench.clock.advance(60_000)
    try bench.answer(AskingBench.once)
    let moved = try bench.keychain.move(renamed, to: own)
    #expect(try bench.keychain.entry(moved).item.confirmMinutes == 0)
    // Only once, whatever the answer: neither button is for longer.
    #expect(bench.shown("SETDESC")?.contains("longer") == false)
    try bench.keychain.update(moved) { $0.confirmMinutes = nil }
    try bench.answer(AskingBench.refusal)
    #expect(try KeychainTests.text(bench.keychain.secret(of: moved)) == "two")
    // To ask for more is free.
    try bench.keychain.update(moved) { $0.confirmMinutes = 1 }
  }

  /// The question says what the new class means, and an agreement holds for this once.
  @Test func anotherClassIsAskedAbout() throws {
    try bench.answer(AskingBench.refusal)
    #expect(
      KeychainTests.code { _ = try bench.keychain.update(reference, accessible: .afterFirstUnlock) { _ in } }
        == .confirmationRefused)
    #expect(bench.shown("SETDESC")?.contains("make it readable also after the vault was locked again, on any machine:") == true)
    #expect(bench.shown("SETDESC")?.contains("longer") == false)
    #expect(try bench.keychain.entry(reference).accessibility == .whenUnlocked)
    bench.clock.advance(60_000)
    try bench.answer(AskingBench.once)
    let count = bench.questionCount
    _ = try bench.keychain.update(reference, accessible: .afterFirstUnlock) { _ in }
    #expect(try bench.keychain.entry(reference).accessibility == .afterFirstUnlock && bench.questionCount == count + 1)
    // Both at once are two questions.
    _ = try bench.keychain.update(reference, accessible: .whenUnlocked) { $0.confirmMinutes = nil }
    #expect(bench.questionCount == count + 3)
  }

  private var own: AccessGroup {
    get throws { try AccessGroup(teams.editor.manifest.applicationIdentifier) }
  }

  /// An agreement to read is not one to remove the attribute.
  @Test func aLeaseOfReadingIsNoneOfChanging() throws {
    let three = try Self.add(3, teams, "three")
    try bench.answer(AskingBench.lease)
    #expect(read(three) == nil)
    try bench.answer(AskingBench.refusal)
    #expect(KeychainTests.code { try bench.keychain.update(three) { $0.confirmMinutes = nil } } == .confirmationRefused)
    #expect(KeychainTests.code { try bench.keychain.move(three, to: own) } == .confirmationRefused)
    #expect(read(three) == nil)
    // And cannot be, for longer than once: the button was there for reading alone.
    #expect(bench.fake.told.count { $0.contains("\"longer\"") } == 1)
  }

  @Test func theOwnersOwnRequestsNeedNoQuestion() throws {
    try bench.answer(AskingBench.refusal)
    #expect(try KeychainTests.text(teams.owner.secret(of: reference)) == "one")
    try teams.owner.update(reference) { $0.confirmMinutes = 7 }
    #expect(try bench.keychain.items().map(\.item.confirmMinutes) == [7])
    try bench.keychain.remove(reference)
    #expect(bench.questionCount == 0)
  }

  /// The library has nobody to ask.
  @Test func inTheProcessItIsRefused() throws {
    let editor = try teams.keychain(teams.editor)
    #expect(KeychainTests.code { try editor.secret(of: reference) } == .confirmationNeeded)
    #expect(KeychainTests.code { try editor.move(reference, to: own) } == .confirmationNeeded)
    #expect(KeychainTests.code { try editor.update(reference) { $0.confirmMinutes = nil } } == .confirmationNeeded)
    try editor.update(reference) { $0.label = "x" }
    #expect(try KeychainTests.text(Keychain(Vault.openThrowAway(teams.store), as: .owner).secret(of: reference)) == "one")
    #expect(
      KeychainTests.code { try Keychain(Vault.openThrowAway(teams.store), as: .groups([reference.group])).secret(of: reference) }
        == .confirmationNeeded)
  }

  /// The item's own question is about less than the group's, and stands for both.
  @Test func oneQuestionForItemAndGroup() throws {
    var vault = try Vault.openThrowAway(teams.store)
    let application = teams.stranger.manifest.applicationIdentifier
    try vault.transaction { try $0.put(Grant(to: application, reference.group, .all, asksForConfirmation: true, at: .test)) }
    let bench = try AskingBench(teams.store, teams.stranger)
    try bench.answer(AskingBench.once)
    #expect(try KeychainTests.text(bench.keychain.secret(of: reference)) == "one")
    #expect(bench.questionCount == 1)
    // A lease of the group is none of such an item.
    let plain = try teams.owner.add(Item(service: "x", account: ""), secret: Secret(testing: "x"), group: reference.group)
    try bench.answer(AskingBench.lease)
    #expect(try KeychainTests.text(bench.keychain.secret(of: plain)) == "x")
    try bench.answer(AskingBench.refusal)
    #expect(KeychainTests.code { try bench.keychain.secret(of: reference) } == .confirmationRefused)
    // A class and what else changes with it are two questions; a secret takes a request of its own.
    try bench.answer(AskingBench.once)
    let before = bench.questionCount
    _ = try bench.keychain.update(plain, accessible: .afterFirstUnlock) { $0.label = "y" }
    #expect(bench.questionCount == before + 2)
    _ = try bench.keychain.update(plain, accessible: .whenUnlocked) { _ in }
    #expect(bench.questionCount == before + 3)
    let entry = try bench.keychain.entry(plain)
    #expect(
      KeychainTests.code {
        _ = try bench.keychain.transport.answer(
          .update(plain, generation: entry.generation, entry.item, Secret(testing: "z"), .afterFirstUnlock))
      } == .notAllowed)
    #expect(try KeychainTests.text(teams.owner.secret(of: plain)) == "x")
    // From one group to another, both of which want to be asked about, there are two questions.
    let other = try AccessGroup("other")
    try vault.transaction { transaction in
      try transaction.createGroup(other, at: .test)
      try transaction.put(Grant(to: application, other, .all, asksForConfirmation: true, at: .test))
    }
    try bench.answer(AskingBench.once)
    let count = bench.questionCount
    _ = try bench.keychain.move(plain, to: other)
    #expect(bench.questionCount == count + 2)
  }
}
