import CofferTesting
import Testing

@testable import AccessRights
@testable import SecretMemory
@testable import VaultCore

@Suite struct EntitlementTests {
  let app = SampleApp(1)

  @Test func groupsComeInAppleOrder() throws {
    let team = try app.team
    let entitlements = Entitlements(
      try app.manifest(keychain: ["shared"], groups: ["group", "shared"]),
      granted: [.init(try AccessGroup("other.team"), .read)])
    #expect(
      entitlements.groups.map(\.group.name)
        == ["\(team).shared", "\(team).com.example.editor", "\(team).group", "other.team"])
    #expect(try entitlements.groupForAdding(nil).name == "\(team).shared")
    // An app that shares nothing has a group of its own.
    #expect(try Entitlements(app.manifest()).groupForAdding(nil).name == "\(team).com.example.editor")
  }

  @Test func aGroupThatIsNotHeldIsRefusedByName() throws {
    let entitlements = Entitlements(try app.manifest())
    let foreign = try AccessGroup("\(SampleApp(2).team).com.example.editor")
    for rights in [Entitlements.Rights.read, .write, .list] {
      #expect(throws: VaultError(.missingEntitlement, foreign.name)) { try entitlements.check(foreign, rights) }
      #expect(throws: VaultError(.missingEntitlement, foreign.name)) { try entitlements.groups(for: rights, in: foreign) }
    }
    #expect(throws: VaultError(.missingEntitlement, foreign.name)) { try entitlements.groupForAdding(foreign) }
    #expect(try entitlements.groups(for: .read, in: nil).map(\.name) == ["\(app.team).com.example.editor"])
  }

  @Test func aRightThatWasNotGrantedIsRefused() throws {
    let group = try AccessGroup("g")
    let entitlements = Entitlements([.init(group, [.list])])
    #expect(try entitlements.groups(for: .list, in: nil) == [group])
    #expect(try entitlements.groups(for: [.list, .read], in: nil).isEmpty)
    #expect(throws: VaultError(.missingEntitlement, "g: no right to read")) { try entitlements.check(group, [.list, .read]) }
    #expect(throws: VaultError(.missingEntitlement, "no group to write to")) { try entitlements.groupForAdding(nil) }
    // Two grants of one group add up.
    let both = Entitlements([.init(group, [.list]), .init(group, [.write])])
    #expect(both.groups == [.init(group, [.list, .write])])
    #expect(try both.groupForAdding(nil) == group)
  }
  @Test func aRightWithoutConfirmationNeedsNoQuestion() throws {
    let group = try AccessGroup("g")
    let asked = Entitlements([.init(group, [.read, .write], confirmed: .read)])
    #expect(asked.needsConfirmation(group, .read))
    #expect(asked.needsConfirmation(group, [.read, .write]))
    #expect(!asked.needsConfirmation(group, .write))
    #expect(!asked.needsConfirmation(try AccessGroup("other"), .read))
    for order in [[Entitlements.Group(group, .read), .init(group, [.read, .write], confirmed: [.read, .write])]] {
      for groups in [order, order.reversed()] {
        let both = Entitlements(groups)
        #expect(!both.needsConfirmation(group, .read))
        #expect(both.needsConfirmation(group, .write))
      }
    }
    // A right that is not there cannot be asked for.
    #expect(Entitlements.Group(group, .list, confirmed: .all).confirmedRights == .list)
    let grant = Grant(to: "x.com.example.editor", group, .all, asksForConfirmation: true, at: .test)
    #expect(grant.entitlement.confirmedRights == [.read, .write])
    #expect(Grant(to: "x.com.example.editor", group, .all, at: .test).entitlement.confirmedRights.isEmpty)
  }
}
