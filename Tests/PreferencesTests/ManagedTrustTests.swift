import Foundation
import Testing

@testable import CofferPreferences

@Suite struct ManagedTrustTests {
  /// A combining character after a slash is one Character with it, so a search by Characters skips that slash, and with it the
  /// directory of the file.
  @Test(arguments: ["x.plist", "\u{301}x.plist"]) func everyDirectoryIsChecked(name: String) throws {
    let fixture = try Fixture()
    let directory = fixture.root.appending(path: "managed")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory.path)
    let trust = ManagedTrust(owner: geteuid(), top: fixture.root.path)
    #expect(throws: PreferenceError(.permissionsTooOpen)) { try trust.checkDirectories(of: "\(directory.path)/\(name)") }
  }
}
