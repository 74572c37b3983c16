import AccessRights
import CofferRequests
import Testing
import VaultCore

@Suite struct SecretServiceCallerTests {
  /// `coffer-secrets` asks for any program of the session, so it reaches nothing that was not kept through it.
  @Test func itsGroupsAreThoseOfTheBus() throws {
    let caller = Caller.own(.secretService)
    for name in ["secret-service", "secret-service/login", "secret-service/a/b"] {
      try caller.check(AccessGroup(name), [.read, .write, .list])
    }
    for name in ["default", "secret-services", "secret-service\u{338}/login", "a/secret-service"] {
      #expect(throws: KeychainError(.missingEntitlement), "\(name)") { try caller.check(AccessGroup(name), .list) }
    }
  }
}
