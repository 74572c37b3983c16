import AppContainers
import CofferFiles
import Foundation
import Testing

@Suite struct ArchiveTests {
  private static let files = [
    "Documents/a", "Documents/Inbox/mail", "Documents/deep/er/b", "Library/Notes/c", "Library/Preferences/p.plist",
    "Library/Caches/d", "tmp/e", "Documents/-n ame\n",
  ]

  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    chmod755(scratch.inside("Documents/Inbox"))
    for path in Self.files { try scratch.write(path, "of \(path)") }
    return scratch
  }

  private func chmod755(_ path: String) { unsafe chmod(path, 0o755) }

  private func members(_ archive: String) throws -> [String] {
    try Scratch.run("/usr/bin/tar", ["--list", "--gzip", "--quoting-style=escape", "--file", archive]).split(separator: "\n")
      .map(String.init)
  }

  @Test("a backup has what its class says, in an archive that tar reads") func backup() throws {
    let scratch = try filled()
    let archive = try scratch.outside("backup.tar.gz")
    let backup = try Backup(of: scratch.container, to: scratch.make(archive))
    let expected = [
      "Documents/", "Documents/-n ame\\n", "Documents/a", "Documents/deep/", "Documents/deep/er/", "Documents/deep/er/b",
      "Library/", "Library/Notes/", "Library/Notes/c", "Library/Preferences/", "Library/Preferences/p.plist",
    ]
    // The first one is the label.
    #expect(try members(archive).first == "\(scratch.app)" && members(archive).dropFirst().sorted() == expected.sorted())
    #expect(backup.count == expected.count && backup.leftOut == [])
  }

  @Test("what the user had is there again after backup, wipe and restoration") func restoration() throws {
    let scratch = try filled()
    try FileManager.default.createSymbolicLink(atPath: scratch.inside("Documents/deep/l"), withDestinationPath: "../a")
    let archive = try scratch.outside("backup.tar.gz")
    _ = try Backup(of: scratch.container, to: scratch.make(archive))
    try scratch.data.removeContainer(scratch.app)
    let empty = try scratch.data.makeContainer(scratch.app)
    try scratch.write("Documents/later")
    #expect(try Restoration(of: empty, from: scratch.open(archive)).count == 12)
    for path in ["Documents/a", "Documents/deep/er/b", "Library/Notes/c", "Library/Preferences/p.plist", "Documents/-n ame\n"] {
      #expect(scratch.text(path) == "of \(path)")
    }
    #expect(scratch.text("Documents/deep/l") == "of Documents/a")
    // It is what was backed up, and nothing else.
    for path in ["Documents/later", "Library/Caches/d", "tmp/e"] { #expect(!scratch.exists(scratch.inside(path))) }
    #expect(try scratch.mode(scratch.inside("Documents/Inbox")) == 0o500)
    #expect(try scratch.data.containers().names().map(\.description) == [".\(scratch.app).running", "\(scratch.app)"])
  }

  @Test func excludedFilesAreNotInABackup() throws {
    let scratch = try filled()
    let documents = try scratch.container.directory(.documents)
    let library = try scratch.container.directory(.library)
    try documents.setExcludedFromBackup(true, FileName("a"))
    try library.setExcludedFromBackup(true, FileName("Notes"))
    #expect(try documents.isExcludedFromBackup(FileName("a")) && !documents.isExcludedFromBackup(FileName("deep")))
    // It goes where the file goes.
    try documents.rename(FileName("a"), to: FileName("renamed"))
    let archive = try scratch.outside("backup.tar.gz")
    _ = try Backup(of: scratch.container, to: scratch.make(archive))
    #expect(try members(archive).filter { $0.contains("renamed") || $0.contains("Notes") } == [])
    try documents.setExcludedFromBackup(false, FileName("renamed"))
    try documents.setExcludedFromBackup(false, FileName("renamed"))
    #expect(try !documents.isExcludedFromBackup(FileName("renamed")))
    #expect(Scratch.code { try documents.setExcludedFromBackup(true, FileName("none")) } == .missing)
  }

  @Test func filesThatCannotBeRestoredAreLeftOutAndReported() throws {
    let scratch = try filled()
    for (name, target) in [("abs", "/etc"), ("above", "../../x"), ("after", "deep/../a")] {
      try FileManager.default.createSymbolicLink(atPath: scratch.inside("Documents/\(name)"), withDestinationPath: target)
    }
    #expect(unsafe mkfifo(scratch.inside("Documents/pipe"), 0o600) == 0)
    let archive = try scratch.outside("backup.tar.gz")
    let backup = try Backup(of: scratch.container, to: scratch.make(archive))
    #expect(backup.leftOut == ["Documents/above", "Documents/abs", "Documents/after", "Documents/pipe"])
    #expect(try Restoration(of: scratch.container, from: scratch.open(archive)).count == 11)
  }

  @Test("the backup of another app is refused, and changes nothing, unless it is meant") func anotherApp() throws {
    let scratch = try filled()
    let archive = try scratch.outside("backup.tar.gz")
    _ = try Backup(of: scratch.container, to: scratch.make(archive))
    let other = try scratch.data.makeContainer(FileName("team.com.example.viewer"))
    let kept = other.directory.path + "/Documents/kept"
    try "kept".write(toFile: kept, atomically: false, encoding: .utf8)
    #expect(Scratch.code { _ = try Restoration(of: other, from: scratch.open(archive)) } == .archiveOfAnotherApp)
    // One that says of no app.
    let plain = try scratch.outside("plain.tar.gz")
    _ = try Scratch.run(
      "/usr/bin/tar", ["--create", "--gzip", "--file", plain, "-C", scratch.container.directory.path, "Documents/a"])
    #expect(Scratch.code { _ = try Restoration(of: other, from: scratch.open(plain)) } == .archiveOfAnotherApp)
    #expect(scratch.exists(kept) && !scratch.exists(other.directory.path + "/Documents/a"))
    #expect(try Restoration(of: other, from: scratch.open(archive), isOfAnyApp: true).count == 11)
    #expect(!scratch.exists(kept) && scratch.exists(other.directory.path + "/Documents/a"))
  }

  @Test func aRunningAppIsNeitherBackedUpNorRestored() throws {
    let scratch = try filled()
    let archive = try scratch.outside("backup.tar.gz")
    _ = try Backup(of: scratch.container, to: scratch.make(archive))
    let lock = try RunningLock.running(scratch.app, in: scratch.data.containers())
    let other = try scratch.make(scratch.outside("other.tar.gz"))
    #expect(Scratch.code { _ = try Backup(of: scratch.container, to: other) } == .running)
    #expect(Scratch.code { _ = try Restoration(of: scratch.container, from: scratch.open(archive)) } == .running)
    withExtendedLifetime(lock) {}
  }

  @Test func aTreeThatIsTooDeepIsRefused() throws {
    let scratch = try Scratch()
    var here = try scratch.container.directory(.documents)
    for _ in 0..<120 { here = try here.makeDirectory(FileName("d")) }
    let output = try scratch.make(scratch.outside("backup.tar.gz"))
    #expect(Scratch.code { _ = try Backup(of: scratch.container, to: output) } == .tooDeep)
  }

  /// Members of an archive: name, kind, and what it links to or holds. ELSEWHERE is an empty directory of the test.
  static let hostile: [(String, [[String]])] = [
    ("above", [["../x", "file", "x"]]),
    ("far above", [["Documents/../../x", "file", "x"]]),
    ("absolute", [["ELSEWHERE/x", "file", "x"]]),
    ("absolute in the place of a document", [["/Documents/x", "file", "x"]]),
    ("link to above", [["Documents/l", "link", "../.."]]),
    ("absolute link", [["Documents/l", "link", "/etc"]]),
    ("link after a name", [["Documents/l", "link", "d/../../.."]]),
    ("through a link", [["Documents/l", "link", "../../.."], ["Documents/l/x", "file", "x"]]),
    ("through an absolute link", [["Documents/l", "link", "ELSEWHERE"], ["Documents/l/x", "file", "x"]]),
    ("link in the place of a directory", [["Library", "link", "Documents"]]),
    ("link in the place of preferences", [["Library/Preferences", "link", "Notes"]]),
    ("hard link to an absolute path", [["Documents/h", "hard", "/etc/passwd"]]),
    ("hard link to above", [["Documents/h", "hard", "../../x"]]),
    ("device", [["Documents/d", "device", ""]]),
    ("pipe", [["Documents/p", "pipe", ""]]),
    ("caches", [["Library/Caches/x", "file", "x"]]),
    ("inbox", [["Documents/Inbox/x", "file", "x"]]),
    ("temporary", [["tmp/x", "file", "x"]]),
    ("top", [["x", "file", "x"]]),
    ("file in the place of a directory", [["Library", "file", "x"]]),
    ("twice", [["Documents/x", "file", "1"], ["Documents/x", "file", "2"]]),
  ]

  @Test(arguments: hostile) func aHostileArchiveIsRefused(name: String, members: [[String]]) throws {
    let scratch = try filled()
    let archive = try scratch.outside("hostile.tar.gz")
    let script = """
      import io, json, sys, tarfile
      kinds = {"file": tarfile.REGTYPE, "link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "device": tarfile.CHRTYPE,
               "pipe": tarfile.FIFOTYPE}
      with tarfile.open(sys.argv[1], "w:gz") as archive:
          for name, kind, text in json.loads(sys.argv[2]):
              member = tarfile.TarInfo(name)
              member.type = kinds[kind]
              member.linkname = text if kind in ("link", "hard") else ""
              member.size = len(text) if kind == "file" else 0
              archive.addfile(member, io.BytesIO(text.encode()))
      """
    let elsewhere = URL(filePath: archive).deletingLastPathComponent().appending(path: "elsewhere")
    try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
    let real = members.map { $0.map { $0.replacing("ELSEWHERE", with: elsewhere.path) } }
    let json = String(decoding: try JSONEncoder().encode(real), as: UTF8.self)
    try Scratch.run("/usr/bin/env", ["python3", "-c", script, archive, json])
    let before = try FileManager.default.subpathsOfDirectory(atPath: scratch.path).sorted()
    let code = Scratch.code { _ = try Restoration(of: scratch.container, from: scratch.open(archive), isOfAnyApp: true) }
    // A file where a directory belongs is found when the container is completed.
    #expect(code == .archiveRefused || code == .notADirectory, "\(String(describing: code))")
    let after = try FileManager.default.subpathsOfDirectory(atPath: scratch.path).sorted()
    #expect(after.filter { !$0.hasSuffix(".running") } == before.filter { !$0.hasSuffix(".running") })
    #expect(scratch.text("Documents/a") == "of Documents/a")
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
  }

  @Test func malformedArchivesAreRefused() throws {
    let scratch = try filled()
    for (name, text) in [("empty", ""), ("text", "no archive")] {
      let file = try scratch.open(scratch.outside(name, text))
      #expect(Scratch.code { _ = try Restoration(of: scratch.container, from: file, isOfAnyApp: true) } == .archiveRefused)
    }
    let archive = try scratch.outside("backup.tar.gz")
    _ = try Backup(of: scratch.container, to: scratch.make(archive))
    let half = try Data(contentsOf: URL(filePath: archive)).dropLast(20)
    try half.write(to: URL(filePath: scratch.path + "/half.tar.gz"))
    let cut = try scratch.open(scratch.path + "/half.tar.gz")
    #expect(Scratch.code { _ = try Restoration(of: scratch.container, from: cut, isOfAnyApp: true) } == .archiveRefused)
    #expect(scratch.text("Documents/a") == "of Documents/a")
  }

  @Test func rightsOfOthersDoNotComeBack() throws {
    let scratch = try filled()
    unsafe chmod(scratch.inside("Documents/a"), 0o6777)
    let archive = try scratch.outside("backup.tar.gz")
    _ = try Backup(of: scratch.container, to: scratch.make(archive))
    _ = try Restoration(of: scratch.container, from: scratch.open(archive))
    #expect(try scratch.mode(scratch.inside("Documents/a")) == 0o700)
    #expect(try scratch.mode(scratch.inside("Documents/deep")) == 0o700)
  }

  /// `TAR_OPTIONS` can name programs to run.
  @Test func noVariableReachesTar() async {
    await #expect(processExitsWith: .success) {
      let scratch = try Scratch()
      try scratch.write("Documents/a")
      let marker = try scratch.outside("marker")
      unsafe setenv("TAR_OPTIONS", "--checkpoint=1 --checkpoint-action=exec=touch\\ \(marker)", 1)
      _ = try Backup(of: scratch.container, to: scratch.make(scratch.outside("backup.tar.gz")))
      #expect(!scratch.exists(marker))
    }
  }
}
