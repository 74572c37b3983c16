import AppContainers
import CofferFiles
import Foundation
import Testing

/// Names that lead elsewhere, links where directories should be, trees that are made to break who removes them.
@Suite struct HostilePathTests {
  @Test(arguments: ["", ".", "..", "a/b", "/", "a\0b", String(repeating: "x", count: 256)])
  func invalidNamesAreRefused(text: String) {
    #expect(Scratch.code { _ = try FileName(text) } == .nameNotAllowed)
  }

  @Test(arguments: ["", "/etc/passwd", "../a", "a/../b", "a//b", "a/", "./a", "a/.."])
  func pathsThatLeadOutAreRefused(text: String) {
    #expect(Scratch.code { _ = try RelativePath(text) } == .nameNotAllowed)
  }

  @Test func namesOfAnyBytesAreNames() throws {
    #expect(try FileName(bytes: [0xFF, 0x0A]).bytes == [0xFF, 0x0A])
    #expect(try FileName("...").description == "...")
  }

  /// A link in the place of each directory of a container, one at a time.
  @Test(arguments: ["Documents", "Documents/Inbox", "Library", "Library/Caches", "Library/Preferences", "tmp"])
  func aLinkInThePlaceOfADirectoryIsRefused(path: String) throws {
    let scratch = try Scratch()
    let target = try scratch.outside("target")
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
    try FileManager.default.removeItem(atPath: scratch.inside(path))
    try FileManager.default.createSymbolicLink(atPath: scratch.inside(path), withDestinationPath: target)
    #expect(Scratch.code { _ = try scratch.data.makeContainer(scratch.app) } == .symbolicLink)
    #expect(try FileManager.default.contentsOfDirectory(atPath: target) == [])
  }

  @Test func aLinkInThePlaceOfAContainerIsRefused() throws {
    let scratch = try Scratch()
    let other = try FileName("team.com.example.other")
    let path = "\(scratch.path)/data/Containers/\(other)"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: scratch.container.directory.path)
    #expect(Scratch.code { _ = try scratch.data.makeContainer(other) } == .symbolicLink)
    #expect(Scratch.code { _ = try scratch.data.container(other) } == .symbolicLink)
    // The link goes, and nothing that it led to.
    try scratch.data.removeContainer(other)
    #expect(!scratch.exists(path) && scratch.exists(scratch.inside("Documents")))
  }

  @Test func filesAreNotReadOrMadeThroughLinks() throws {
    let scratch = try Scratch()
    let secret = try scratch.outside("secret", "s")
    try FileManager.default.createSymbolicLink(atPath: scratch.inside("Documents/l"), withDestinationPath: secret)
    try FileManager.default.createSymbolicLink(atPath: scratch.inside("Documents/d"), withDestinationPath: scratch.path)
    let documents = try scratch.container.directory(.documents)
    #expect(Scratch.code { _ = try documents.file(FileName("l")) } == .symbolicLink)
    #expect(Scratch.code { _ = try documents.file(scratch.path("d/secret")) } == .symbolicLink)
    #expect(Scratch.code { _ = try documents.contents(FileName("l"), limit: 10) } == .symbolicLink)
    #expect(Scratch.code { _ = try documents.makeFile(FileName("l")) } == .exists)
    #expect(Scratch.code { _ = try scratch.container.makeFile(scratch.path("Documents/d/new")) } == .symbolicLink)
    #expect(!scratch.exists("\(scratch.path)/new"))
  }

  @Test func onlyRegularFilesAreRead() throws {
    let scratch = try Scratch()
    let documents = try scratch.container.directory(.documents)
    #expect(unsafe mkfifo(scratch.inside("Documents/pipe"), 0o600) == 0)
    // It has no writer: opening it must not block.
    #expect(Scratch.code { _ = try documents.file(FileName("pipe")) } == .notAFile)
    #expect(Scratch.code { _ = try documents.file(FileName("Inbox")) } == .notAFile)
    #expect(try documents.file(FileName("none")) == nil)
  }

  @Test func aFileThatIsTooLargeIsRefused() throws {
    let scratch = try Scratch()
    try scratch.write("Documents/large", String(repeating: "x", count: 100_001))
    let documents = try scratch.container.directory(.documents)
    #expect(Scratch.code { _ = try documents.contents(FileName("large"), limit: 100_000) } == .tooLarge)
    #expect(try documents.contents(FileName("large"), limit: 100_001)?.count == 100_001)
  }

  /// A user who can write to the directory could exchange its content.
  /// It once went on without end, until the stack was full.
  @Test func whereNoDirectoryCanBeMadeIsAnError() async {
    await #expect(processExitsWith: .success) {
      let scratch = try Scratch()
      let link = try scratch.outside("link")
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/none/at/all")
      for path in ["/proc/none", "/proc/none/below", "\(link)/coffer", link] {
        let code = Scratch.code { _ = try DataDirectory(at: path) }
        precondition(code == .missing, "\(path): \(String(describing: code))")
      }
      _ = try DataDirectory(at: scratch.outside("a/b/c"))
      let mode = try scratch.mode(scratch.outside("a/b"))
      precondition(mode == 0o700)
    }
  }

  @Test func aDirectoryThatEverybodyMayWriteToIsRefused() throws {
    let scratch = try Scratch()
    unsafe chmod("\(scratch.path)/data", 0o777)
    #expect(Scratch.code { _ = try DataDirectory(at: "\(scratch.path)/data") } == .permissionsTooOpen)
    unsafe chmod("\(scratch.path)/data", 0o1777)
    #expect(Scratch.code { _ = try DataDirectory(at: "\(scratch.path)/data") } == nil)
  }

  @Test(.enabled(if: geteuid() == 0)) func aDirectoryOfSomebodyElseIsRefused() throws {
    let scratch = try Scratch()
    unsafe chown("\(scratch.path)/data", 65534, 65534)
    #expect(Scratch.code { _ = try DataDirectory(at: "\(scratch.path)/data") } == .foreignOwner)
  }

  /// Deeper than there are descriptors or than a stack would hold, and longer than a path may be.
  @Test func aTreeOfAnyDepthIsRemoved() throws {
    let scratch = try Scratch()
    let name = try FileName("d")
    var here = try scratch.container.directory(.documents)
    for _ in 0..<5000 { here = try here.makeDirectory(name) }
    _ = try here.makeFile(FileName("bottom"))
    try scratch.data.removeContainer(scratch.app)
    #expect(try scratch.data.container(scratch.app) == nil)
  }

  @Test func removalDoesNotFollowLinksAndTakesBackRights() throws {
    let scratch = try Scratch()
    let target = try scratch.outside("kept", "k")
    try FileManager.default.createSymbolicLink(atPath: scratch.inside("Documents/file"), withDestinationPath: target)
    try FileManager.default.createSymbolicLink(atPath: scratch.inside("Documents/above"), withDestinationPath: "../../..")
    try scratch.write("Documents/a/b/c")
    // The name that removal itself would take.
    try scratch.write("Documents/.removed-1/x/y")
    #expect(unsafe mkfifo(scratch.inside("Documents/pipe"), 0o600) == 0)
    for path in ["Documents/a/b", "Documents/a"] { unsafe chmod(scratch.inside(path), 0) }
    try scratch.data.removeContainer(scratch.app)
    #expect(!scratch.exists(scratch.container.directory.path))
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "k")
  }

  @Test func aNameThatIsNoTextIsRemoved() throws {
    let scratch = try Scratch()
    let documents = try scratch.container.directory(.documents)
    _ = try documents.makeFile(FileName(bytes: [0xFF, 0xFE]))
    try documents.removeTree(FileName("Inbox"))
    try documents.removeContents()
    #expect(try documents.names() == [])
  }
}
