import AccessRights
import CofferAgent
import CofferRequests
import CofferTesting
import CofferWire
import FakePinentry
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import Coffer

/// Grants that require confirmation, through an agent that asks.
@Suite(.timeLimit(.minutes(60))) struct AskingTests {
  let teams: Teams
  let bench: AskingBench
  let reference: Reference
  let application: String

  init() throws {
    teams = try Teams()
    reference = try teams.keychain(teams.editor).add(Item(service: "mail", account: "ada"), secret: Secret(testing: "one"))
    application = teams.stranger.manifest.applicationIdentifier
    bench = try AskingBench(teams.store, teams.stranger)
    try grant()
  }

  private func grant(_ rights: Entitlements.Rights = .all, at seconds: Int64 = 1_700_000_000) throws {
    var vault = try Vault.openThrowAway(teams.store)
    let now = Timestamp(secondsSince1970: seconds)
    try vault.transaction { try $0.put(Grant(to: application, reference.group, rights, asksForConfirmation: true, at: now)) }
  }

  private func read(_ purpose: String = "") -> KeychainError.Code? {
    KeychainTests.code { try bench.keychain.secret(of: reference, purpose: purpose) }
  }

  private func write() -> KeychainError.Code? {
    KeychainTests.code { try bench.keychain.update(reference) { $0.comment = "x" } }
  }

  // MARK: Answers

  @Test func onceIsOnce() throws {
    try bench.answer(AskingBench.once)
    #expect(try KeychainTests.text(bench.keychain.secret(of: reference)) == "one")
    #expect(read() == nil)
    #expect(bench.questionCount == 2)
    #expect(bench.log.events == ["asked", "allowed(\"once\")", "asked", "allowed(\"once\")"])
  }

  /// One question would name one of them.
  @Test func severalItemsAtOnceAreNotAskedAbout() throws {
    try bench.answer(AskingBench.once)
    let items = [Item(service: "s", account: "a"), Item(service: "s", account: "b")]
    let made = NewItems(items, [1, 1], secrets: try Secret(testing: "xy"))
    let new = try #require(made)
    #expect(KeychainTests.code { try bench.keychain.addAll(new, group: reference.group) } == .notAllowed)
    #expect(bench.questionCount == 0 && write() == nil && bench.questionCount == 1)
  }

  @Test func aLeaseHoldsForItsTime() throws {
    try bench.answer(AskingBench.lease)
    #expect(read() == nil)
    #expect(bench.shown("SETDESC")?.contains("\"longer\" to allow it for 5 minutes") == true)
    try bench.answer(AskingBench.refusal)
    #expect(read() == nil)
    bench.clock.advance(5 * 60_000 - 1)
    #expect(read() == nil)
    #expect(bench.questionCount == 1)
    bench.clock.advance(1)
    #expect(read() == .confirmationRefused)
    #expect(bench.questionCount == 2)
    #expect(
      bench.log.events == [
        "asked", "allowed(\"for 5 minutes\")", "agreedBefore(\"agreed before\")", "agreedBefore(\"agreed before\")", "asked",
        "refused(\"refused\")",
      ])
  }

  @Test func aNoIsNotAskedAboutAgainAtOnce() throws {
    try bench.answer(AskingBench.refusal)
    #expect(read() == .confirmationRefused)
    try bench.answer(AskingBench.once)
    #expect(read() == .confirmationRefused)
    bench.clock.advance(60_000 - 1)
    #expect(read() == .confirmationRefused)
    #expect(bench.questionCount == 1)
    #expect(bench.log.events.last == "notAsked(\"refused before\")")
    // Another thing is another question.
    #expect(write() == nil)
    #expect(bench.questionCount == 2)
    bench.clock.advance(1)
    #expect(read() == nil)
    #expect(bench.questionCount == 3)
  }

  @Test func nobodyAnswers() throws {
    try bench.answer(AskingBench.nobody)
    #expect(read() == .confirmationNeeded)
    #expect(read() == .confirmationNeeded)
    #expect(bench.questionCount == 1)
    #expect(
      bench.log.events == [
        "asked", "refused(\"no answer: the question was not answered in time\")", "notAsked(\"not answered before\")",
      ])
    #expect(bench.fake.told.contains("SETTIMEOUT 60"))
  }

  @Test func whereNobodyIsNobodyIsAsked() throws {
    let bench = try AskingBench(teams.store, teams.stranger, display: nil)
    try bench.answer(AskingBench.once)
    #expect(KeychainTests.code { try bench.keychain.secret(of: reference) } == .confirmationNeeded)
    #expect(bench.fake.told.isEmpty)
    #expect(bench.log.events == ["notAsked(\"the owner cannot be asked: no display and no terminal is known\")"])
    // And who only has a key file does not say where somebody is.
    var display = Attributes()
    display["display"] = .text(":8")
    let salt = [UInt8](repeating: 7, count: 16)
    func credential(_ type: SlotType) throws -> Credential { try .derived(Secret(count: 32), type, salt: salt) }
    _ = try bench.keychain.agent.answer(.session(.unlock(credential(.keyFile), display: display)))
    #expect(KeychainTests.code { try bench.keychain.secret(of: reference) } == .confirmationNeeded)
    // The owner does, and is not asked on that connection, but for another one.
    _ = try bench.keychain.agent.answer(.session(.unlock(credential(.passphrase), display: display)))
    #expect(try KeychainTests.text(bench.keychain.secret(of: reference)) == "one")
    #expect(bench.questionCount == 0)
    #expect(KeychainTests.code { try bench.agent.keychain.secret(of: reference) } == nil)
    #expect(bench.questionCount == 1 && bench.shown("OPTION") == "display=:8")
  }

  @Test func withoutLeasesThereIsOnlyOnce() throws {
    let bench = try AskingBench(teams.store, teams.stranger, minutes: 0)
    try bench.answer(AskingBench.once)
    #expect(try KeychainTests.text(bench.keychain.secret(of: reference)) == "one")
    #expect(bench.shown("SETDESC")?.contains("longer") == false)
    try bench.answer(AskingBench.lease)
    #expect(KeychainTests.code { try bench.keychain.secret(of: reference) } == .confirmationRefused)
  }

  // MARK: The end of a lease

  @Test func aLeaseIsForItsRights() throws {
    try bench.answer(AskingBench.lease)
    #expect(read() == nil)
    try bench.answer(AskingBench.refusal)
    #expect(write() == .confirmationRefused)
    #expect(KeychainTests.code { try bench.keychain.remove(reference) } == .confirmationRefused)
    #expect(bench.questionCount == 2)
    #expect(read() == nil)
  }

  @Test func aLeaseEndsWhenTheVaultIsLocked() throws {
    try bench.answer(AskingBench.lease)
    #expect(read() == nil)
    try bench.keychain.lock()
    #expect(read() == .locked)
    try bench.agent.vault.unlock(.throwAway())
    try bench.answer(AskingBench.refusal)
    #expect(read() == .confirmationRefused)
    #expect(bench.questionCount == 2)
  }

  @Test func aLeaseEndsWithIdleTimeToo() throws {
    try bench.answer(AskingBench.lease)
    #expect(read() == nil)
    #expect(bench.agent.vault.lock(unusedFor: -1) == nil)
    try bench.agent.vault.unlock(.throwAway())
    try bench.answer(AskingBench.refusal)
    #expect(read() == .confirmationRefused)
  }

  @Test func aLeaseEndsWithItsGrant() throws {
    try bench.answer(AskingBench.lease)
    #expect(read() == nil)
    // The same rights, granted anew.
    try grant(at: 1_700_000_001)
    try bench.answer(AskingBench.refusal)
    #expect(read() == .confirmationRefused)
    #expect(bench.questionCount == 2)
    // And so does what was refused: the owner has thought again.
    try grant([.read, .list], at: 1_700_000_001)
    try bench.answer(AskingBench.once)
    #expect(read() == nil)
  }

  @Test func aLeaseIsOneProgramsAndOneGroups() throws {
    try bench.answer(AskingBench.lease)
    #expect(read() == nil)
    var vault = try Vault.openThrowAway(teams.store)
    let other = try AccessGroup("other")
    try vault.transaction { transaction in
      try transaction.createGroup(other, at: .test)
      try transaction.put(Grant(to: application, other, .all, asksForConfirmation: true, at: .test))
      try transaction.put(Grant(to: "coffer", reference.group, .all, asksForConfirmation: true, at: .test))
    }
    try bench.answer(AskingBench.refusal)
    #expect(
      KeychainTests.code { try bench.keychain.add(Item(service: "s", account: "a"), secret: Secret(testing: "x"), group: other) }
        == .confirmationRefused)
    bench.identity.become(.command)
    #expect(read() == .confirmationRefused)
    #expect(bench.questionCount == 3)
    #expect(bench.shown("SETDESC")?.contains("The command coffer%0Awants to read") == true)
  }

  // MARK: The question

  @Test func theOwnerReadsWhoWantsWhat() throws {
    try bench.answer(AskingBench.once)
    #expect(read("to log in 100%\u{202E}\nRefuse") == nil)
    let team = teams.stranger.manifest.team.text
    #expect(
      bench.shown("SETDESC")
        == "A program asks for something in your vault%0A/home/ada/vault.coffer%0A%0AThe app com.example.editor%0Aof team \(team)%0A"
        + "wants to read the secret of%0Amail/ada%0Ain the group \(reference.group.name)%0A%0A"
        + "It gives this reason: \"to log in 100%25\\u{202e}\\u{a}Refuse\"%0A%0A"
        + "Type \"yes\" to allow it once, \"longer\" to allow it for 5 minutes.%0AAnything else refuses.")
    #expect(bench.shown("SETPROMPT") == "Answer:" && bench.shown("SETCANCEL") == "Refuse")
  }

  @Test func requestsWithoutConfirmationAskNothing() throws {
    try bench.answer(AskingBench.refusal)
    #expect(try bench.keychain.items().map(\.reference) == [reference])
    #expect(try bench.keychain.entry(reference).item["account"] == "ada")
    _ = try bench.keychain.entitlements
    // Rights come first, and what is not there is not asked about.
    try grant([.read, .list])
    #expect(write() == .missingEntitlement)
    let gone = Reference(group: reference.group, id: try #require(Identifier([UInt8](repeating: 9, count: 16))))
    #expect(KeychainTests.code { try bench.keychain.secret(of: gone) } == .notFound)
    let own = try bench.keychain.add(Item(service: "own", account: ""), secret: Secret(testing: "own"))
    #expect(try KeychainTests.text(bench.keychain.secret(of: own)) == "own")
    #expect(bench.questionCount == 0)
  }

  @Test func eachDeedIsAsked() throws {
    try bench.answer(AskingBench.refusal)
    let item = Item(service: "new", account: "")
    func deed() -> String? { bench.shown("SETDESC")?.components(separatedBy: "%0A").first { $0.hasPrefix("wants to ") } }
    #expect(write() == .confirmationRefused)
    #expect(deed() == "wants to change")
    bench.clock.advance(60_000)
    #expect(KeychainTests.code { try bench.keychain.remove(reference) } == .confirmationRefused)
    #expect(deed() == "wants to remove")
    bench.clock.advance(60_000)
    let added = KeychainTests.code { try bench.keychain.add(item, secret: Secret(testing: "x"), group: reference.group) }
    #expect(added == .confirmationRefused)
    #expect(deed() == "wants to add")
    bench.clock.advance(60_000)
    let own = try AccessGroup(application)
    #expect(KeychainTests.code { try bench.keychain.move(reference, to: own) } == .confirmationRefused)
    #expect(deed() == "wants to move to the group \(application):")
    bench.clock.advance(60_000)
    // The other way round only the target is its own affair.
    let mine = try bench.keychain.add(item, secret: Secret(testing: "x"))
    #expect(bench.questionCount == 4)
    #expect(KeychainTests.code { try bench.keychain.move(mine, to: reference.group) } == .confirmationRefused)
    #expect(bench.questionCount == 5)
    #expect(try bench.keychain.entry(reference).item["service"] == "mail")
  }
}
