import CofferPreferences
import CofferPropertyLists
import Foundation
import Testing

/// A property list that is a symbolic link, as programs that manage dotfiles create them.
@Suite struct LinkedFileTests {
  private let fixture: Fixture
  private let name = "com.example.app.plist"
  private var dotfiles: URL { fixture.root.appending(path: "dotfiles") }
  private var target: URL { dotfiles.appending(path: "app.plist") }

  init() throws {
    fixture = try Fixture()
    for directory in [fixture.file(""), dotfiles] {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      unsafe chmod(directory.path, 0o700)
    }
  }

  private func domain() throws -> FileDomain { try fixture.domain { $0.isFollowingLinks = true } }

  private func link(to destination: String) throws {
    try? FileManager.default.removeItem(at: fixture.file(name))
    try FileManager.default.createSymbolicLink(atPath: fixture.file(name).path, withDestinationPath: destination)
  }

  private func write(_ values: [String: Any], to file: URL) throws {
    try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0).write(to: file, options: .atomic)
    unsafe chmod(file.path, 0o600)
  }

  private func values(in file: URL) throws -> [String: String] {
    guard case .dictionary(let values) = try PropertyList.read(Array(Data(contentsOf: file))).value else { return [:] }
    return values.texts
  }

  private func isLink() -> Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: fixture.file(name).path)) != nil
  }

  @Test("the file at the end of the links is read and replaced, and the links stay", arguments: [0, 1, 2, 3])
  func works(kind: Int) throws {
    switch kind {
    case 0: try link(to: target.path)
    case 1: try link(to: "../dotfiles/app.plist")
    case 2:
      // A directory in the path is a link too.
      try FileManager.default.createSymbolicLink(
        atPath: fixture.root.appending(path: "there").path, withDestinationPath: dotfiles.path)
      try link(to: fixture.root.appending(path: "there/app.plist").path)
    default:
      try FileManager.default.createSymbolicLink(
        atPath: dotfiles.appending(path: "second").path, withDestinationPath: "app.plist")
      try link(to: "../dotfiles/second")
    }
    try write(["a": 1], to: target)
    let domain = try domain()
    #expect(domain.value(forKey: "a") == .integer(1))
    try domain.set(.integer(2), forKey: "b")
    try domain.checkpoint()
    #expect(isLink())
    #expect(try values(in: target) == ["a": "integer(1)", "b": "integer(2)"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: dotfiles.path).allSatisfy { !$0.hasPrefix(".coffer") })
    // An edit, and another target of the link.
    try write(["a": 10, "b": 2], to: target)
    usleep(150_000)
    try domain.set(.integer(3), forKey: "c")
    #expect(domain.value(forKey: "a") == .integer(10))
    let other = dotfiles.appending(path: "other.plist")
    try write(["z": 1, "c": 3], to: other)
    try link(to: other.path)
    usleep(150_000)
    try domain.set(.integer(4), forKey: "d")
    try domain.checkpoint()
    #expect(domain.value(forKey: "z") == .integer(1))
    #expect(try values(in: other)["d"] == "integer(4)")
    #expect(try values(in: target)["d"] == nil)
  }

  @Test func theFileNeedNotBeThere() throws {
    try link(to: target.path)
    let domain = try domain()
    #expect(domain.problem == nil)
    try domain.set(.integer(1), forKey: "a")
    try domain.checkpoint()
    #expect(isLink())
    #expect(try values(in: target) == ["a": "integer(1)"])
  }

  @Test func aDamagedFileIsPutAsideBesideIt() throws {
    try link(to: target.path)
    let domain = try domain()
    try domain.set(.integer(1), forKey: "a")
    try domain.checkpoint()
    try Data("damaged".utf8).write(to: target)
    usleep(150_000)
    try domain.set(.integer(2), forKey: "b")
    try domain.checkpoint()
    #expect(isLink())
    #expect(try values(in: target) == ["a": "integer(1)", "b": "integer(2)"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: dotfiles.path).contains { $0.hasPrefix("app.plist.corrupt-") })
  }

  /// Values are stored in the journal; the target of the link is unchanged.
  private func expectRefused(_ code: PreferenceError.Code, _ location: SourceLocation = #_sourceLocation) throws {
    let before = try? Data(contentsOf: target)
    let domain = try domain()
    // A domain without a journal has only the property list, so it cannot be read either.
    #expect(domain.problem?.code == code, sourceLocation: location)
    #expect(throws: PreferenceError(code), sourceLocation: location) { try domain.set(.integer(1), forKey: "k") }
    #expect((try? Data(contentsOf: target)) == before, sourceLocation: location)
    #expect(isLink(), sourceLocation: location)
  }

  @Test("a link into a directory that others may write to is not followed")
  func openPlaces() throws {
    try write(["a": 1], to: target)
    try link(to: target.path)
    unsafe chmod(dotfiles.path, 0o777)
    try expectRefused(.permissionsTooOpen)
    unsafe chmod(dotfiles.path, 0o700)
    unsafe chmod(target.path, 0o666)
    try expectRefused(.permissionsTooOpen)
    unsafe chmod(target.path, 0o600)
    // A parent directory.
    unsafe chmod(fixture.root.path, 0o777)
    try expectRefused(.permissionsTooOpen)
    unsafe chmod(fixture.root.path, 0o700)
    #expect(try domain().value(forKey: "a") == .integer(1))
    try link(to: "com.example.app.plist")
    try expectRefused(.symbolicLink)
  }

  @Test("a link, a directory or a file of another user is refused", .enabled(if: geteuid() == 0))
  func foreignPlaces() throws {
    try write(["a": 1], to: target)
    try link(to: target.path)
    for path in [fixture.file(name).path, dotfiles.path, target.path] {
      unsafe lchown(path, 65_534, 65_534)
      try expectRefused(.foreignOwner)
      unsafe lchown(path, 0, 0)
    }
    #expect(try domain().value(forKey: "a") == .integer(1))
  }

  @Test("in a container no link is followed: the app could choose which file is overwritten")
  func containers() throws {
    try write(["a": 1], to: target)
    try link(to: target.path)
    let domain = try fixture.domain()
    #expect(domain.problem?.code == .symbolicLink)
    let environment = [
      "COFFER_APP": "com.example.app", "COFFER_CONTAINER": fixture.root.path, "HOME": fixture.root.path,
    ]
    let name = try DomainName("com.example.app")
    #expect(try SearchPlaces { environment[$0] }.options(of: name).isFollowingLinks == false)
    #expect(try SearchPlaces { ["HOME": fixture.root.path][$0] }.options(of: name).isFollowingLinks)
  }

  // MARK: Leftovers

  @Test("temporary files of a dead process are removed at once, those of a running one are not")
  func leftovers() throws {
    let dead = fixture.file(".coffer-0000000000000001.new")
    let living = fixture.file(".coffer-0000000000000002.new")
    let domain = try domain()
    for file in [dead, living] { try Data("half".utf8).write(to: file) }
    let descriptor = unsafe open(living.path, O_RDWR | O_CLOEXEC)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    try domain.set(.integer(1), forKey: "a")
    try domain.checkpoint()
    #expect(!fixture.names.contains(dead.lastPathComponent))
    #expect(fixture.names.contains(living.lastPathComponent))
    close(descriptor)
    try domain.set(.integer(2), forKey: "a")
    try domain.compact()
    #expect(!fixture.names.contains(living.lastPathComponent))
  }
}
