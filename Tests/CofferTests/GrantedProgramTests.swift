import AccessRights
import CofferAgent
import CofferRequests
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import Coffer

/// Programs that are no apps, and have what was granted to them by their names.
@Suite(.timeLimit(.minutes(60))) struct GrantedProgramTests {
  let teams: Teams
  let reference: Reference

  init() throws {
    teams = try Teams()
    reference = try teams.keychain(teams.editor).add(Item(service: "mail", account: "ada"), secret: Secret(testing: "one"))
  }

  private func grant(_ program: GrantedProgram, _ rights: Entitlements.Rights) throws {
    var vault = try Vault.openThrowAway(teams.store)
    try vault.transaction { try $0.put(Grant(to: program.name, reference.group, rights, at: .test)) }
  }

  private func bench(_ identity: ProgramIdentity) throws -> AgentBench { try AgentBench(teams.store, teams.editor) { identity } }

  @Test(arguments: [
    (ProgramIdentity.unit("a.service"), GrantedProgram.unit("a.service")), (.flatpak("org.example.A"), .flatpak("org.example.A")),
  ]) func itHasWhatWasGrantedAndNothingElse(_ identity: ProgramIdentity, _ program: GrantedProgram) throws {
    let bench = try bench(identity)
    #expect(KeychainTests.code { try bench.keychain.secret(of: reference) } == .missingEntitlement)
    // Groups that belong to no team are not open to every program either.
    #expect(KeychainTests.code { try bench.keychain.items(KeychainQuery(group: .standard)) } == .missingEntitlement)
    try grant(program, [.read, .list])
    #expect(try KeychainTests.text(bench.keychain.secret(of: reference)) == "one")
    #expect(try bench.keychain.items().map(\.reference) == [reference])
    #expect(KeychainTests.code { try bench.keychain.remove(reference) } == .missingEntitlement)
    // A grant to another program does not apply to this one.
    let other = try self.bench(.unit("b.service"))
    #expect(KeychainTests.code { try other.keychain.secret(of: reference) } == .missingEntitlement)
  }

  /// The class says when and where the secret can be read, so to change it takes the right to read.
  @Test func anotherClassTakesTheRightToRead() throws {
    let program = GrantedProgram.unit("a.service")
    try grant(program, .write)
    let bench = try bench(.unit("a.service"))
    #expect(
      KeychainTests.code { _ = try bench.keychain.update(reference, accessible: .afterFirstUnlock) { _ in } }
        == .missingEntitlement)
    _ = try bench.keychain.update(reference, accessible: .whenUnlocked) { $0.label = "x" }
    #expect(try teams.owner.entry(reference).accessibility == .whenUnlocked)
    try grant(program, [.read, .write])
    _ = try bench.keychain.update(reference, accessible: .afterFirstUnlock) { _ in }
    #expect(try teams.owner.entry(reference).accessibility == .afterFirstUnlock)
  }

  @Test func itIsNoAppThatIsRemoved() throws {
    try grant(.unit("a.service"), .all)
    let bench = try bench(.unit("a.service"))
    let code = KeychainTests.code {
      try bench.keychain.add(
        Item(service: "s", account: "a"), secret: Secret(testing: "x"), group: reference.group, installBound: true)
    }
    #expect(code == .notAllowed)
  }
}
