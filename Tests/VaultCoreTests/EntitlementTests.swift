import CofferTesting
import Testing

@testable import VaultCore

@Suite struct EntitlementTests {
  let app = SampleApp(1)

  @Test func groupsComeInAppleOrder() throws {
    let team = try app.team
    let entitlements = Entitlements(
      try app.manifest(keychain: ["shared"], groups: ["group", "shared"]),
      granted: [.init(group: try AccessGroup("other.team"), rights: .read)])
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
    let entitlements = Entitlements([.init(group: group, rights: [.list])])
    #expect(try entitlements.groups(for: .list, in: nil) == [group])
    #expect(try entitlements.groups(for: [.list, .read], in: nil).isEmpty)
    #expect(throws: VaultError(.missingEntitlement, "g: no right to read")) { try entitlements.check(group, [.list, .read]) }
    #expect(throws: VaultError(.missingEntitlement, "no group to write to")) { try entitlements.groupForAdding(nil) }
    // Two grants of one group add up.
    let both = Entitlements([.init(group: group, rights: [.list]), .init(group: group, rights: [.write])])
    #expect(both.groups == [.init(group: group, rights: [.list, .write])])
    #expect(try both.groupForAdding(nil) == group)
  }
}
