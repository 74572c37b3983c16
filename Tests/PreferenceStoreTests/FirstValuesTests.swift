import CofferPreferences
import CofferPropertyLists
import Foundation
import PreferenceStore
import Testing

/// A program that used Foundation's `UserDefaults` before: `FoundationWriter` is the old version, `PreferenceProbe` the new one.
@Suite struct FirstValuesTests {
  private let root: URL
  private let probe: ProcessTests.Probe
  private let suite = "com.example.app"

  init() throws {
    probe = try ProcessTests.Probe()
    root = probe.home
  }

  private enum Configuration: CaseIterable {
    case xdg, home
  }

  private func run(_ program: String, _ configuration: Configuration = .xdg, _ arguments: String...) throws -> (
    output: String, errors: String
  ) {
    let process = probe.process(arguments, probe.program.deletingLastPathComponent().appending(path: program))
    var environment = process.environment ?? [:]
    environment["COFFER_HOME"] = nil
    environment["HOME"] = root.path
    environment["XDG_DATA_HOME"] = nil
    environment["XDG_CONFIG_HOME"] = configuration == .xdg ? root.appending(path: "xdg").path : nil
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

  private func get(_ key: String, _ configuration: Configuration = .xdg) throws -> String {
    try run("PreferenceProbe", configuration, "get", suite, key).output
  }

  private func file(_ configuration: Configuration = .xdg) throws -> URL {
    let directory = root.appending(path: configuration == .xdg ? "xdg" : ".config")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory.appending(path: "\(suite).plist")
  }

  @Test("values stored with Foundation are read until they are set or removed", arguments: [true, false])
  func foundationValuesAreTaken(isXDG: Bool) throws {
    let configuration: Configuration = isXDG ? .xdg : .home
    let file = try file(configuration)
    _ = try run("FoundationWriter", configuration, "set name Ada", "set colour blue", "set gone soon")
    let before = try Data(contentsOf: file)
    let status = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(try get("name", configuration) == "String Ada")
    _ = try run("PreferenceProbe", configuration, "set", suite, "green", "colour")
    #expect(try get("name", configuration) == "String Ada")
    #expect(try get("colour", configuration) == "String green")
    // The file is unchanged: another version of the program may still use it. Values that it stores from now on are not taken
    // over.
    #expect(try Data(contentsOf: file) == before)
    let after = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(after[.modificationDate] as? Date == status[.modificationDate] as? Date)
    #expect(after[.systemFileNumber] as? Int == status[.systemFileNumber] as? Int)
    _ = try run("FoundationWriter", configuration, "set name Grace", "set late 1")
    #expect(try get("name", configuration) == "String Ada")
    #expect(try get("late", configuration) == "nil")
    // A removed value does not reappear.
    let domain = FileDomain(
      try DomainName(suite), in: PreferenceDirectory(root.appending(path: ".local/share/coffer/Preferences").path))
    #expect(domain.value(forKey: "gone") == .string("soon"))
    try domain.replaceAll(with: PropertyListDictionary())
    #expect(try get("name", configuration) == "nil")
  }

  @Test("a value of before is observed, removed and changed as any other")
  func oneProcess() throws {
    let fixture = try StoreFixture()
    let file = fixture.root.appending(path: "foundation.plist")
    try fixture.files.write(["a": 1, "b": 2], to: "foundation.plist")
    var options = FileDomain.Options()
    options.firstBase = file.path
    let directory = PreferenceDirectory(fixture.lists.places.user)
    let domain = FileDomain(try fixture.name, in: directory, options)
    let other = FileDomain(try fixture.name, in: directory, options)
    #expect(domain.values().count == 2)
    #expect(other.value(forKey: "a") == .integer(1))
    let changes = Recorder<PreferenceChange.Key>()
    let observation = domain.observe { for key in $0.keys { changes.add(key) } }
    try domain.set(nil, forKey: "a")
    #expect(changes.all.map(\.old) == [.integer(1)])
    #expect(other.value(forKey: "a") == nil)
    #expect(other.value(forKey: "b") == .integer(2))
    try domain.checkpoint()
    let list = try PropertyList.read(
      Array(Data(contentsOf: fixture.root.appending(path: "Preferences/\(StoreFixture.name).plist"))))
    #expect(list.value == .dictionary(domain.values()))
    // The domain's own property list takes precedence.
    // Moved, not removed: the watch may write a file of the domain while a removal goes through the directory.
    try FileManager.default.moveItem(
      at: fixture.root.appending(path: "Preferences"), to: fixture.root.appending(path: "removed"))
    try fixture.files.write(["c": 3], to: "Preferences/\(StoreFixture.name).plist")
    #expect(FileDomain(try fixture.name, in: directory, options).values().keys.sorted() == ["c"])
    observation.cancel()
  }

  @Test("a damaged file, or one that others can write, is left alone, and said to be")
  func foundationFilesAreRefused() throws {
    let file = try file()
    _ = try run("FoundationWriter", .xdg, "set name Ada")
    let good = try Data(contentsOf: file)
    func check(_ code: String, _ location: SourceLocation = #_sourceLocation) throws {
      let before = try? Data(contentsOf: file)
      let result = try run("PreferenceProbe", .xdg, "get", suite, "name")
      #expect(result.output == "nil", sourceLocation: location)
      #expect(
        result.errors.contains("the values that Foundation has stored for com.example.app are not used: \(code)"),
        "\(result.errors)",
        sourceLocation: location)
      #expect((try? Data(contentsOf: file)) == before, sourceLocation: location)
    }
    try good.prefix(good.count / 2).write(to: file)
    try check("damaged")
    try good.write(to: file)
    unsafe chmod(file.path, 0o666)
    try check("permissionsTooOpen")
    unsafe chmod(file.path, 0o600)
    #expect(try get("name") == "String Ada")
    unsafe chmod(file.deletingLastPathComponent().path, 0o777)
    try check("permissionsTooOpen")
    unsafe chmod(file.deletingLastPathComponent().path, 0o700)
    if geteuid() == 0 {
      unsafe chown(file.path, 65_534, 65_534)
      try check("foreignOwner")
      unsafe chown(file.path, 0, 0)
    } else {
      print("preferences: without root no file belongs to another user; foreignOwner was not tried")
    }
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
    try check("notAFile")
    // The program works.
    _ = try run("PreferenceProbe", .xdg, "set", suite, "new", "name")
    #expect(try get("name") == "String new")
  }

  @Test func foundationIsNotAskedForSettingsOfTheirOwn() throws {
    _ = try file()
    _ = try run("FoundationWriter", .xdg, "set name Ada")
    let places = try SearchPlaces { ["COFFER_HOME": root.path, "XDG_CONFIG_HOME": "\(root.path)/xdg"][$0] }
    #expect(places.options(of: try DomainName(suite)).firstBase == nil)
    let found = try SearchPlaces { ["HOME": root.path, "XDG_CONFIG_HOME": "relative"][$0] }
    #expect(found.options(of: try DomainName(suite)).firstBase == "\(root.path)/.config/\(suite).plist")
    #expect(found.options(of: .global).firstBase == nil)
  }
}
