import AppContainers
import CofferFiles
import Foundation
import Testing
import Waiting

@Suite struct LayoutTests {
  @Test func aContainerHasItsDirectoriesForItsOwnerAlone() throws {
    let scratch = try Scratch()
    let expected = [
      "Documents": 0o700, "Documents/Inbox": 0o500, "Library": 0o700, "Library/Caches": 0o700, "Library/Preferences": 0o700,
      "tmp": 0o700,
    ]
    for (path, mode) in expected { #expect(try scratch.mode(scratch.inside(path)) == mode, "\(path)") }
    for path in ["data", "data/Containers", "data/Containers/\(scratch.app)"] {
      #expect(try scratch.mode("\(scratch.path)/\(path)") == 0o700, "\(path)")
    }
    // Existing directories stay, missing ones are made.
    try scratch.write("Documents/kept", "1")
    try FileManager.default.removeItem(atPath: scratch.inside("Library"))
    _ = try scratch.data.makeContainer(scratch.app)
    #expect(scratch.text("Documents/kept") == "1" && scratch.exists(scratch.inside("Library/Caches")))
  }

  /// In a process of its own: the umask is that of all threads.
  @Test func modesDoNotDependOnTheUmask() async {
    await #expect(processExitsWith: .success) {
      let scratch = try Scratch()
      umask(0o777)
      let other = try scratch.data.makeContainer(FileName("team.com.example.other"))
      _ = try other.makeFile(RelativePath("Documents/a"))
      umask(0o022)
      let path = other.directory.path
      #expect(try scratch.mode(path + "/Library/Preferences") == 0o700 && scratch.mode(path + "/Documents/a") == 0o600)
    }
  }

  @Test(arguments: [
    ("Documents", DirectoryClass.documents), ("Documents/a/b", .documents), ("Documents/Inbox", .inbox),
    ("Documents/Inbox/a", .inbox), ("Documents/Inboxes", .documents), ("Library", .library), ("Library/Notes/a", .library),
    ("Library/Caches/a", .caches), ("Library/Preferences/a.plist", .preferences), ("tmp/a", .temporary),
  ])
  func theNearestClassDecides(path: String, expected: DirectoryClass) throws {
    #expect(DirectoryClass.of(try RelativePath(path).names) == expected)
  }

  @Test func nothingHasAPlaceAtTheTop() throws {
    #expect(DirectoryClass.of(try RelativePath("other/a").names) == nil)
    let scratch = try Scratch()
    #expect(Scratch.code { _ = try scratch.container.makeFile(scratch.path("a")) } == .readOnlyDirectory)
  }

  /// The whole table: a rule cannot be changed unnoticed.
  @Test func theTable() {
    let backedUp = DirectoryClass.allCases.filter(\.rules.isBackedUp)
    #expect(backedUp == [.documents, .library, .preferences, .group])
    #expect(DirectoryClass.allCases.filter(\.rules.isReadOnly) == [.bundle, .inbox])
    #expect(DirectoryClass.allCases.filter { $0.rules.purge == .whenStopped } == [.temporary])
    #expect(DirectoryClass.allCases.filter { $0.rules.purge == .whenStoppedAndDiskLow } == [.caches])
  }

  @Test("preferences lie in Library/Preferences") func preferences() throws {
    let scratch = try Scratch()
    #expect(scratch.container.path(of: .preferences) == scratch.inside("Library/Preferences"))
    #expect(scratch.exists(scratch.container.path(of: .preferences)))
  }

  @Test("what other apps bring is delivered, cannot be made by the app, and may be deleted") func inbox() throws {
    let scratch = try Scratch()
    let brought = try scratch.open(scratch.outside("report.pdf", "one"))
    #expect(try scratch.container.deliver(brought, as: FileName("report.pdf")).description == "report.pdf")
    let second = try scratch.open(scratch.outside("report.pdf", "two"))
    #expect(try scratch.container.deliver(second, as: FileName("report.pdf")).description == "report-2.pdf")
    #expect(scratch.text("Documents/Inbox/report.pdf") == "one" && scratch.text("Documents/Inbox/report-2.pdf") == "two")
    #expect(try scratch.mode(scratch.inside("Documents/Inbox/report.pdf")) == 0o400)
    #expect(try scratch.mode(scratch.inside("Documents/Inbox")) == 0o500)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.inside("Documents/Inbox")).count == 2)
    for path in ["Documents/Inbox/made", "Documents/Inbox/a/made"] {
      #expect(Scratch.code { _ = try scratch.container.makeFile(scratch.path(path)) } == .readOnlyDirectory)
    }
    try scratch.container.removeDelivered(FileName("report.pdf"))
    #expect(!scratch.exists(scratch.inside("Documents/Inbox/report.pdf")))
    #expect(try scratch.mode(scratch.inside("Documents/Inbox")) == 0o500)
    #expect(Scratch.code { try scratch.container.removeDelivered(FileName("report.pdf")) } == .missing)
  }

  /// As by two commands, the first of which is slow. The second one takes neither what is half written, nor the name.
  @Test func twoDeliveriesOfOneNameAreTwoFiles() throws {
    let scratch = try Scratch()
    let pipe = Pipe()
    let brought = OpenFile(dup(pipe.fileHandleForReading.fileDescriptor), "a pipe")
    let first = thread { _ = try? scratch.container.deliver(brought, as: FileName("report")) }
    pipe.fileHandleForWriting.write(Data("first, ".utf8))
    try wait(for: "the first delivery has begun") {
      try !FileManager.default.contentsOfDirectory(atPath: scratch.inside("Documents/Inbox")).isEmpty
    }
    let small = try scratch.open(scratch.outside("small", "second"))
    let second = thread { _ = try? scratch.container.deliver(small, as: FileName("report")) }
    // Long enough for one that does not wait.
    _ = second.wait(timeout: .now() + 0.5)
    pipe.fileHandleForWriting.write(Data("whole".utf8))
    try pipe.fileHandleForWriting.close()
    first.wait()
    second.wait()
    #expect(scratch.text("Documents/Inbox/report") == "first, whole")
    #expect(scratch.text("Documents/Inbox/report-2") == "second")
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.inside("Documents/Inbox")).count == 2)
  }

  /// - Returns: what is signalled at its end, also for who has waited in vain before.
  private func thread(_ body: @escaping @Sendable () -> Void) -> DispatchGroup {
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      body()
      group.leave()
    }
    return group
  }

  @Test func anAppThatKeepsItsInboxLockedStopsNobodyForEver() throws {
    let scratch = try Scratch()
    let inbox = try scratch.container.directory(.inbox)
    let lock = try DirectoryLock(on: inbox)
    #expect(Scratch.code { _ = try DirectoryLock(on: inbox, milliseconds: 20) } == .busy)
    withExtendedLifetime(lock) {}
  }

  @Test func aLongNameIsDelivered() throws {
    let scratch = try Scratch()
    let name = try FileName(String(repeating: "n", count: 255))
    let brought = try scratch.open(scratch.outside("long", "one"))
    #expect(try scratch.container.deliver(brought, as: name) == name)
  }

  @Test("the app keeps directories of its own in Library") func library() throws {
    let scratch = try Scratch()
    try scratch.write("Library/Notes/index", "1")
    _ = try scratch.container.makeFile(scratch.path("Library/Notes/made"))
    #expect(scratch.exists(scratch.inside("Library/Notes/made")))
    #expect(Scratch.code { _ = try scratch.container.makeFile(scratch.path("Library/None/made")) } == .missing)
  }

  @Test func aContainerGoesWithAllThatIsInItAndBesideIt() throws {
    let scratch = try Scratch()
    try scratch.write("Library/Notes/index", "1")
    let containers = try scratch.data.containers()
    _ = try Replacement(of: scratch.app, in: containers).begin()
    try scratch.data.removeContainer(scratch.app)
    #expect(try FileManager.default.contentsOfDirectory(atPath: containers.path) == [])
    try scratch.data.removeContainer(scratch.app)
    #expect(try scratch.data.container(scratch.app) == nil)
  }

  @Test func groupsComeAndGo() throws {
    let scratch = try Scratch()
    let name = try FileName("team.shared")
    #expect(try scratch.data.group(name) == nil)
    let group = try scratch.data.makeGroup(name)
    #expect(group.path == "\(scratch.path)/data/Groups/team.shared" && scratch.exists(group.path + "/Library/Preferences"))
    try scratch.data.removeGroup(name)
    try scratch.data.removeGroup(name)
    #expect(try scratch.data.group(name) == nil)
  }
}
