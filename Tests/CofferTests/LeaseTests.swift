import AccessRights
import CofferAgent
import CofferTesting
import CofferWire
import FakePinentry
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import Coffer

/// The owner looks at the leases, and ends one.
@Suite(.timeLimit(.minutes(60))) struct LeaseTests {
  let teams: Teams
  let bench: AskingBench
  let reference: Reference
  let application: String
  let keychain: Keychain

  init() throws {
    teams = try Teams()
    reference = try teams.keychain(teams.editor).add(Item(service: "mail", account: "ada"), secret: Secret(testing: "one"))
    application = teams.stranger.manifest.applicationIdentifier
    bench = try AskingBench(teams.store, teams.stranger)
    keychain = bench.agent.keychain
    try grant()
  }

  private func grant(at seconds: Int64 = 1_700_000_000) throws {
    var vault = try Vault.openThrowAway(teams.store)
    let now = Timestamp(secondsSince1970: seconds)
    try vault.transaction { try $0.put(Grant(to: application, reference.group, .all, asksForConfirmation: true, at: now)) }
  }

  /// `coffer` looks, and the app is the app again.
  private func asCommand<Result>(_ body: (Keychain) throws -> Result) rethrows -> Result {
    bench.identity.become(.command)
    defer { bench.identity.become(.app(application)) }
    return try body(keychain)
  }

  private func leases() throws -> [OpenLease] { try asCommand { try $0.leases() } }

  private func read() -> KeychainError.Code? { KeychainTests.code { try bench.keychain.secret(of: reference) } }

  @Test func aLeaseThatWasRevokedAsksAgain() throws {
    #expect(try leases() == [])
    try bench.answer(AskingBench.lease)
    #expect(read() == nil)
    let lease = try #require(try leases().first)
    #expect(lease.number == 1 && lease.program == application && lease.group == reference.group && lease.item == nil)
    #expect(lease.rights == .read && lease.seconds == 300)
    try bench.answer(AskingBench.refusal)
    #expect(read() == nil)
    #expect(bench.questionCount == 1)
    #expect(throws: KeychainError(.notFound)) { try asCommand { try $0.endLease(2) } }
    try asCommand { try $0.endLease(lease.number) }
    #expect(try leases() == [])
    #expect(read() == .confirmationRefused)
    #expect(bench.questionCount == 2)
    #expect(throws: KeychainError(.notFound)) { try asCommand { try $0.endLease(lease.number) } }
  }

  /// Leases that have ended are not listed.
  @Test func aLeaseIsShownWhileItHolds() throws {
    try bench.answer(AskingBench.lease)
    #expect(read() == nil)
    bench.clock.advance(5 * 60_000 - 1)
    #expect(try leases().count == 1)
    bench.clock.advance(1)
    #expect(try leases() == [])
    #expect(read() == nil)
    #expect(try leases().map(\.number) == [2])
    try grant(at: 1_700_000_001)
    #expect(try leases() == [])
    try grant()
    #expect(try leases().map(\.number) == [2])
    try keychain.lock()
    try keychain.unlock(with: .throwAway())
    #expect(try leases() == [])
  }

  /// An app, also the one that has it, neither sees a lease nor ends one.
  @Test func onlyTheOwnerSeesAndEndsLeases() throws {
    try bench.answer(AskingBench.lease)
    #expect(read() == nil)
    #expect(throws: KeychainError(.missingEntitlement)) { try keychain.leases() }
    #expect(throws: KeychainError(.missingEntitlement)) { try keychain.endLease(1) }
    #expect(try leases().count == 1)
  }
}
