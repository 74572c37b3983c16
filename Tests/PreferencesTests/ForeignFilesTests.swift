import Foundation
import Glibc
import Preferences
import PropertyLists
import Testing

@Suite struct ForeignFilesTests {
  private let somebody: uid_t = 65_534

  private func owners(_ fixture: Fixture) throws -> [String: Int] {
    try fixture.names.reduce(into: [:]) { owners, name in
      owners[name] = try FileManager.default.attributesOfItem(atPath: fixture.file(name).path)[.ownerAccountID] as? Int
    }
  }

  /// A root shell that still has the user's environment.
  @Test(
    "root reads the preferences of a user, and leaves no files behind that are closed to the user", .enabled(if: geteuid() == 0))
  func rootAmongFilesOfAUser() throws {
    let fixture = try Fixture()
    do {
      let domain = try fixture.domain()
      try domain.set(.string("Ada"), forKey: "name")
      try domain.checkpoint()
    }
    for name in [""] + fixture.names { try #require(unsafe lchown(fixture.file(name).path, somebody, somebody) == 0) }
    let before = try owners(fixture)
    for isCreating in [false, true] {
      let domain = try fixture.domain { $0.isCreating = isCreating }
      #expect(domain.value(forKey: "name") == .string("Ada"))
      #expect(throws: PreferenceError(.foreignOwner)) { try domain.set(.integer(1), forKey: "count") }
    }
    // Also where there is something to repair.
    try Data("damaged".utf8).write(to: fixture.file("com.example.app.journal"))
    #expect(try fixture.domain { $0.isCreating = false }.value(forKey: "name") == .string("Ada"))
    #expect(try owners(fixture) == before)
  }
}
