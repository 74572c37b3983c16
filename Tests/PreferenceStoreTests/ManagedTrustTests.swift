import CofferPreferences
import Foundation
import PreferenceStore
import Testing

/// Managed settings are used only if no user but the administrator could have written them.
@Suite(.serialized) struct ManagedTrustTests {
  private func fixture() throws -> StoreFixture {
    try StoreFixture {
      try $0.write(["k": "all"], to: "managed/\(StoreFixture.name).plist")
      try $0.write(["k": "user"], to: "managed/users/1000/\(StoreFixture.name).plist")
    }
  }

  private func setMode(_ mode: Int, _ path: String, _ fixture: StoreFixture) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.root.appending(path: path).path)
  }

  private static let places = ["managed", "managed/users", "managed/users/1000", "managed/users/1000/\(StoreFixture.name).plist"]

  @Test("files that other users may write are not forced", arguments: places, [0o020, 0o002])
  func others(path: String, bits: Int) throws {
    let fixture = try fixture()
    let found = path == "managed" ? nil : "all"
    try setMode((path.hasSuffix("plist") ? 0o644 : 0o755) | bits, path, fixture)
    #expect(try fixture.standard.string(forKey: "k") == found)
    #expect(try fixture.standard.objectIsForced(forKey: "k") == (found != nil))
  }

  @Test("files of another user than the administrator are not forced") func owner() throws {
    let fixture = try fixture()
    #expect(try fixture.standard.string(forKey: "k") == "user")
    let places = SearchPlaces(
      user: fixture.root.appending(path: "Preferences").path, managed: fixture.root.appending(path: "managed").path,
      anyUser: fixture.root.appending(path: "anyUser").path, userIdentifier: 1000, administrator: geteuid() + 1)
    let lists = SearchLists(places: places, volatileDomains: VolatileDomains(arguments: []), source: FileDomainSource())
    #expect(try lists.list(DomainName(StoreFixture.name)).application.list.value(forKey: "k") == nil)
    // The administrator is root by default.
    #expect(SearchPlaces(user: "/x") == SearchPlaces(user: "/x", administrator: 0))
  }
}
