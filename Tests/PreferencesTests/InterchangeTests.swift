import CofferPreferences
import CofferPropertyLists
import Foundation
import Testing

/// The files of a domain, as used by other programs and backups.
@Suite struct InterchangeTests {
  @Test("the property list is XML that Python reads and xmllint accepts") func othersReadIt() throws {
    let fixture = try Fixture()
    let domain = try fixture.domain()
    try domain.set(.string("ä <&> 🎻"), forKey: "text")
    try domain.set(.array([.integer(1), .boolean(true), .real(0.5), .date(0), .data([0, 255])]), forKey: "list")
    try domain.checkpoint()
    let path = fixture.file("com.example.app.plist").path
    let script = """
      import plistlib, datetime
      with open('\(path)', 'rb') as file: value = plistlib.load(file)
      assert value == {'text': 'ä <&> 🎻', 'list': [1, True, 0.5, datetime.datetime(2001, 1, 1), b'\\0\\xff']}, value
      """
    #expect(try Self.run("python3", "-c", script) == 0)
    #expect(try Self.run("xmllint", "--noout", "--nonet", path) == 0)
    // The control: invalid XML is not accepted.
    try Data("<plist>".utf8).write(to: fixture.file("broken.plist"))
    #expect(try Self.run("xmllint", "--noout", "--nonet", fixture.file("broken.plist").path) != 0)
  }

  @Test("a backup restores the preferences, including values not exported to the property list yet") func backup() throws {
    let fixture = try Fixture()
    let domain = try fixture.domain()
    try domain.set(.string("first"), forKey: "exported")
    try domain.checkpoint()
    try domain.set(.string("second"), forKey: "journalled")
    try domain.synchronize()
    let backup = fixture.root.appending(path: "backup.tar").path
    let directory = fixture.root.path
    #expect(try Self.run("tar", "-C", directory, "-cf", backup, "--exclude=*.lock", "Preferences") == 0)
    // Restored in a place without a running program: a running one would write its values again after a deletion.
    let wiped = try Fixture()
    #expect(try wiped.domain().values().isEmpty)
    try FileManager.default.removeItem(at: wiped.root.appending(path: "Preferences"))
    #expect(try Self.run("tar", "-C", wiped.root.path, "-xf", backup) == 0)
    let restored = try wiped.domain()
    #expect(restored.value(forKey: "exported") == .string("first"))
    #expect(restored.value(forKey: "journalled") == .string("second"))
    // A property list alone suffices to restore its values.
    let third = try Fixture()
    try FileManager.default.createDirectory(at: third.root.appending(path: "Preferences"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: wiped.file("com.example.app.plist"), to: third.file("com.example.app.plist"))
    #expect(try third.domain().values().texts == ["exported": "string(\"first\")"])
  }

  private static func run(_ command: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
