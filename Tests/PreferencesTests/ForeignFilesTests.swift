import CofferPreferences
import CofferPropertyLists
import Foundation
import Glibc
import Testing

@Suite struct ForeignFilesTests {
  private let somebody: uid_t = 65_534

  private func owners(_ fixture: Fixture) throws -> [String: Int] {
    try fixture.names.reduce(into: [:]) { owners, name in
      owners[name] = try FileManager.default.attributesOfItem(atPath: fixture.file(name).path)[.ownerAccountID] as? Int
    }
  }

  /// A root shell with the environment of a user.
  @Test(
    "root reads the preferences of a user, and leaves no files behind that are closed to the user", .enabled(if: geteuid() == 0))
  func rootAmongFilesOfAUser() throws {
    let (origin, fixture) = (try Fixture(), try Fixture())
    let domain = try origin.domain()
    try domain.set(.string("Ada"), forKey: "name")
    try domain.checkpoint()
    // Copy the files, so that unfinished work of this process goes to the original ones.
    try FileManager.default.copyItem(at: origin.file(""), to: fixture.file(""))
    for name in [""] + fixture.names { try #require(unsafe lchown(fixture.file(name).path, somebody, somebody) == 0) }
    let before = try owners(fixture)
    for isCreating in [false, true] {
      let domain = try fixture.domain { $0.isCreating = isCreating }
      #expect(domain.value(forKey: "name") == .string("Ada"))
      #expect(throws: PreferenceError(.foreignOwner)) { try domain.set(.integer(1), forKey: "count") }
    }
    // Also if a file needs repair.
    try Data("damaged".utf8).write(to: fixture.file("com.example.app.journal"))
    #expect(try fixture.domain { $0.isCreating = false }.value(forKey: "name") == .string("Ada"))
    #expect(try owners(fixture) == before)
  }

  /// In a directory to which other users may write.
  @Test("nothing is written to a journal of another user", .enabled(if: geteuid() == 0))
  func journalOfAnotherUser() throws {
    let (origin, fixture) = (try Fixture(), try Fixture())
    try origin.domain().set(.string("Ada"), forKey: "name")
    try FileManager.default.copyItem(at: origin.file(""), to: fixture.file(""))
    let journal = fixture.file("com.example.app.journal")
    try require(journal, belongsTo: somebody)
    let foreign = try Data(contentsOf: journal)
    try fixture.domain().set(.string("for nobody else"), forKey: "note")
    #expect(try owners(fixture)["com.example.app.journal"] == 0)
    let aside = try #require(fixture.names.first { $0.hasPrefix("com.example.app.journal.corrupt-") })
    #expect(try Data(contentsOf: fixture.file(aside)) == foreign)
    let values = try fixture.domain().values()
    #expect(values["name"] == .string("Ada"))
    #expect(values["note"] == .string("for nobody else"))
  }

  private func require(_ file: URL, belongsTo user: uid_t) throws {
    try #require(unsafe lchown(file.path, user, user) == 0)
  }
}
