import AccessRights
import CofferRequests
import CofferTesting
import Testing
import VaultCore

@Suite struct SecretServiceCallerTests {
  /// `coffer-secrets` asks for any program of the session, so it reaches nothing that was not kept through it.
  @Test func itsGroupsAreThoseOfTheBus() throws {
    let vault = try Vault.throwAway()
    let caller = try Caller.own(.secretService, in: vault)
    for name in ["secret-service", "secret-service/login", "secret-service/a/b"] {
      try caller.check(AccessGroup(name), [.read, .write, .list])
    }
    for name in ["default", "secret-services", "secret-service\u{338}/login", "a/secret-service"] {
      #expect(throws: KeychainError(.missingEntitlement), "\(name)") { try caller.check(AccessGroup(name), .list) }
    }
  }

  /// A grant gives it no group that it has not, and may ask for the owner's word in one that it has.
  @Test func aGrantOnlyAsksTheOwner() throws {
    var vault = try Vault.throwAway()
    let (asked, other) = (try AccessGroup("secret-service/a"), try AccessGroup("default"))
    try vault.transaction { transaction in
      for group in [asked, other] {
        try transaction.put(
          Grant(to: OwnProgram.secretService.rawValue, group, .all, asksForConfirmation: true, at: .test))
      }
    }
    let caller = try Caller.own(.secretService, in: vault)
    #expect(throws: KeychainError(.missingEntitlement)) { try caller.check(other, .list) }
    let service = ItemService(caller, at: .test)
    #expect(service.asks(aboutReading: asked))
    #expect(try !service.asks(aboutReading: AccessGroup("secret-service/b")))
  }
}
