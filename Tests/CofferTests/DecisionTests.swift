import AccessRights
import CofferAgent
import CofferTesting
import CofferWire
import SecretMemory
import Testing
import VaultCore

@testable import Coffer

/// The agent's log of its decisions, including requests that the gate admits and the vault refuses.
@Suite(.timeLimit(.minutes(60))) struct DecisionTests {
  let teams: Teams
  let reference: Reference

  init() throws {
    teams = try Teams()
    reference = try teams.keychain(teams.editor).add(Item(service: "mail", account: "ada"), secret: Secret(testing: "one"))
  }

  private func decisions(_ bench: AgentBench) -> [String] {
    bench.decisions.map { if case .refuse(let code, rule: _) = $0.decision { code.name } else { "allowed" } }
  }

  @Test func aRightThatIsNotThereIsNoted() throws {
    let bench = try AgentBench(teams.store, teams.stranger)
    #expect(KeychainTests.code { try bench.keychain.secret(of: reference) } == .missingEntitlement)
    let application = teams.stranger.manifest.applicationIdentifier
    #expect(decisions(bench) == ["missingEntitlement"])
    #expect(bench.decisions.first?.facts.program == .app(application))
    #expect(
      bench.decisions.allSatisfy {
        $0.facts.group == reference.group && $0.facts.operation == .secret && $0.facts.item == reference.id
      })
  }

  /// The existence of an item does not change the logged decision.
  @Test func aMissingItemIsNoRefusal() throws {
    let bench = try AgentBench(teams.store, teams.editor)
    try bench.keychain.remove(reference)
    #expect(KeychainTests.code { try bench.keychain.secret(of: reference) } == .notFound)
    #expect(decisions(bench).allSatisfy { $0 == "allowed" })
  }

  @Test func theGroupIsNotedWhereOneIsSaid() throws {
    let bench = try AgentBench(teams.store, teams.editor)
    let keychain = bench.keychain
    let group = reference.group
    _ = try keychain.entry(reference)
    _ = try keychain.secret(of: reference)
    try keychain.update(reference) { $0.comment = "x" }
    _ = try keychain.move(reference, to: group)
    try keychain.remove(reference)
    let added = try keychain.add(Item(service: "mail", account: "b"), secret: Secret(testing: "two"), group: group)
    _ = try keychain.items(KeychainQuery(group: group))
    #expect(bench.decisions.count >= 7 && added.group == group)
    #expect(bench.decisions.allSatisfy { $0.facts.group == group }, "\(bench.decisions)")
  }
}
