import Foundation
import Testing

/// Settings of programs started by `coffer app run`: each run is a separate process with the environment of an app.
@Suite struct AppSuiteTests {
  static let team = "abcdefghijklmnopqrstuvwxyz234567"
  static let group = "\(team).data"
  private let probe: ProcessTests.Probe

  init() throws {
    probe = try ProcessTests.Probe()
    for app in ["editor", "viewer"] { try make("Containers/\(app)") }
    try make("Groups/\(Self.group)")
  }

  private func make(_ path: String) throws {
    let directory = probe.home.appending(path: "\(path)/Library/Preferences")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  /// - Parameter under: A program that starts the probe, with its arguments.
  private func run(
    _ app: String, isMember: Bool = true, groups: [String] = [group], under words: [String] = [], _ arguments: String...
  ) throws -> (output: String, errors: String) {
    let process =
      words.first.map { probe.process(words.dropFirst() + [probe.program.path] + arguments, URL(filePath: $0)) }
      ?? probe.process(arguments)
    var environment = process.environment ?? [:]
    environment["COFFER_HOME"] = nil
    environment["COFFER_APP"] = "\(Self.team).com.example.\(app)"
    environment["COFFER_CONTAINER"] = probe.home.appending(path: "Containers/\(app)").path
    environment["COFFER_APP_GROUPS"] =
      isMember ? groups.map { probe.home.appending(path: "Groups/\($0)").path }.joined(separator: "\n") : ""
    process.environment = environment
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    let said = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines), String(decoding: said, as: UTF8.self))
  }

  private func files(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: probe.home.appending(path: "\(path)/Library/Preferences").path)
  }

  @Test("the settings of an app lie in its container, under its identifier") func standard() throws {
    _ = try run("editor", "set", "standard", "value", "k")
    #expect(try files("Containers/editor").contains { $0.hasPrefix("com.example.editor") })
    #expect(try run("editor", "get", "standard", "k").output == "String value")
    #expect(try run("viewer", "get", "standard", "k").output == "nil")
  }

  @Test func directoriesAreThoseOfTheContainer() throws {
    let home = probe.home.appending(path: "Containers/editor").path
    let said = try run("editor", "directories", "standard").output.split(separator: "\n").map(String.init)
    #expect(
      said.dropFirst().prefix(4)
        == ["\(home)/Documents", "\(home)/Library", "\(home)/Library/Caches", "\(home)/Library/Application Support"])
  }

  @Test func aFileIsLeftOutOfBackups() throws {
    let file = probe.home.appending(path: "Containers/editor/file")
    try Data().write(to: file)
    #expect(try run("editor", "exclude", "standard", file.path).output == "false true")
    #expect(try run("editor", "exclude", "standard", file.path).output == "true true")
    _ = try run("editor", "include", "standard", file.path)
    #expect(try run("editor", "exclude", "standard", file.path).output == "false true")
    #expect(try run("editor", "exclude", "standard", file.path + ".none").output == "\(CocoaError.fileNoSuchFile.rawValue)")
  }

  @Test("an app deletes delivered files, and no others") func deliveredItems() throws {
    let container = probe.home.appending(path: "Containers/editor/Documents")
    let inbox = container.appending(path: "Inbox")
    try FileManager.default.createDirectory(at: inbox, withIntermediateDirectories: true)
    for name in ["Inbox/a", "b"] { try Data().write(to: container.appending(path: name)) }
    unsafe chmod(inbox.path, 0o500)
    func remove(_ path: String) throws -> String { try run("editor", "remove-delivered", "standard", path).output }
    for path in [container.appending(path: "b").path, inbox.path + "/../b", inbox.path, "/etc/passwd"] {
      #expect(try remove(path) == "\(CocoaError.fileWriteInvalidFileName.rawValue)")
    }
    #expect(try remove(inbox.path + "/none") == "\(CocoaError.fileNoSuchFile.rawValue)")
    #expect(try remove(inbox.path + "/a") == "removed")
    #expect(!FileManager.default.fileExists(atPath: inbox.path + "/a"))
    #expect(FileManager.default.fileExists(atPath: container.path + "/b"))
    let mode = try FileManager.default.attributesOfItem(atPath: inbox.path)[.posixPermissions] as? Int
    #expect(mode == 0o500)
  }

  @Test("members of a group read each other's values") func members() throws {
    _ = try run("editor", "set", Self.group, "value", "k")
    #expect(try files("Groups/\(Self.group)").contains { $0.hasPrefix(Self.group) })
    #expect(try !files("Containers/editor").contains { $0.hasPrefix(Self.group) })
    let read = try run("viewer", "get", Self.group, "k")
    #expect(read.output == "String value" && read.errors == "")
  }

  @Test("a member gets the directory of its group, another app nil and a line in the log") func containerOfTheGroup()
    throws
  {
    let path = probe.home.appending(path: "Groups/\(Self.group)")
    #expect(try run("editor", "container", "standard", Self.group).output == path.path)
    let refused = try run("viewer", isMember: false, "container", "standard", Self.group)
    #expect(refused.output == "nil" && refused.errors.contains("no entitlement") && refused.errors.contains("application-groups"))
    #expect(try run("editor", "container", "standard", "\(Self.team).other").output == "nil")
    // A program outside of an app.
    #expect(try probe.run("container", "standard", Self.group).output == "nil")
  }

  @Test("the name that code for Apple's systems has is the app's one group that ends in it") func nameWithoutTeam()
    throws
  {
    let name = "group.com.example.shared"
    let other = String(repeating: "z", count: 32)
    let (full, foreign) = ("\(Self.team).\(name)", "\(other).\(name)")
    for group in [full, foreign] { try make("Groups/\(group)") }
    _ = try run("editor", groups: [Self.group, full], "set", name, "value", "k")
    #expect(try files("Groups/\(full)").contains { $0.hasPrefix(full) })
    #expect(try run("viewer", groups: [full], "get", full, "k").output == "String value")
    #expect(try run("viewer", groups: [full], "get", name, "k") == ("String value", ""))
    let path = probe.home.appending(path: "Groups/\(full)").path
    #expect(try run("editor", groups: [Self.group, full], "container", "standard", name).output == path)
    // A name that matches two groups is ambiguous.
    let ambiguous = try run("editor", groups: [full, foreign], "get", name, "k")
    #expect(ambiguous.output == "no such store" && ambiguous.errors.contains("several application groups"), "\(ambiguous)")
    let container = try run("editor", groups: [full, foreign], "container", "standard", name)
    #expect(container.output == "nil" && container.errors.contains("several application groups"), "\(container)")
    // An app without such a group gets a file of its own, and other names do not match the end of a group's name.
    let none = try run("editor", "get", name, "k")
    #expect(none.output == "nil" && none.errors.contains("no entitlement to the group"), "\(none)")
    #expect(try run("editor", groups: [full], "container", "standard", "com.example.shared").output == "nil")
    #expect(try run("editor", groups: [full], "container", "standard", "group.example.shared").output == "nil")
  }

  @Test("a file of the group is written through another one and a rename, or directly", arguments: [true, false])
  func fileOfTheGroup(atomically: Bool) throws {
    let trace = probe.home.appending(path: "trace")
    let strace = "/usr/bin/strace -f -qq -y -e trace=openat,rename,renameat,renameat2 -o"
    let path = try run(
      "editor", under: strace.split(separator: " ").map(String.init) + [trace.path], "write-file", "standard", Self.group,
      "number.txt", "7", "\(atomically)"
    ).output
    #expect(path == probe.home.appending(path: "Groups/\(Self.group)/number.txt").path)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "7")
    let calls = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n").filter { $0.contains("number.txt\"") }
    #expect(calls.contains { $0.contains("rename") } == atomically, "\(calls)")
    #expect(calls.contains { $0.contains("openat") && $0.contains("O_CREAT") } == !atomically, "\(calls)")
    #expect(try run("viewer", "read-file", "standard", Self.group, "number.txt").output == "7")
  }

  @Test("a file that is missing, or holds no number, is 0") func noNumber() throws {
    #expect(try run("viewer", "read-file", "standard", Self.group, "number.txt").output == "0")
    _ = try run("editor", "write-file", "standard", Self.group, "number.txt", "seven", "true")
    #expect(try run("viewer", "read-file", "standard", Self.group, "number.txt").output == "0")
  }

  @Test("the warning of a large domain names the directory for data") func largeDomain() throws {
    let errors = try run("editor", "fill", "standard").errors
    #expect(errors.contains("com.example.editor holds") && errors.contains("a file or a database is"), "\(errors)")
    #expect(try !run("viewer", "set", "standard", "small", "k").errors.contains("database"))
  }

  @Test("another app's settings are not there") func foreignDomain() throws {
    _ = try run("editor", "set", "standard", "value", "k")
    #expect(try run("viewer", "get", "com.example.editor", "k").output == "nil")
  }

  @Test("an app outside of the group gets its own file, and the log names the missing entitlement") func notAMember() throws {
    _ = try run("editor", "set", Self.group, "value", "k")
    let before = try files("Groups/\(Self.group)").sorted()
    let read = try run("viewer", isMember: false, "get", Self.group, "k")
    #expect(read.output == "nil" && read.errors.contains("no entitlement to the group") && read.errors.contains(Self.group))
    #expect(read.errors.contains("application-groups"))
    _ = try run("viewer", isMember: false, "set", Self.group, "mine", "k")
    #expect(try files("Containers/viewer").contains { $0.hasPrefix(Self.group) })
    #expect(try files("Groups/\(Self.group)").sorted() == before)
    #expect(try run("viewer", isMember: false, "get", Self.group, "k").output == "String mine")
    #expect(try run("editor", "get", Self.group, "k").output == "String value")
  }
}
