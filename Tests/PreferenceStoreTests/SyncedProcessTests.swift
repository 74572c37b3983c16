import CofferPreferences
import CofferPropertyLists
import Foundation
import SyncedSettings
import Testing

/// `NSUbiquitousKeyValueStore` in programs of their own.
@Suite struct SyncedProcessTests {
  private static let team = "abcdefghijklmnopqrstuvwxyz234567"
  private static let app = "\(team).com.example.editor"
  private static let group = "\(team).shared"
  private let probe: ProcessTests.Probe

  init() throws { probe = try ProcessTests.Probe() }

  @Test func aValueIsReadByTheNextRun() throws {
    _ = try probe.run("synced-set", "standard", "value", "k")
    #expect(try probe.run("synced-get", "standard", "k").output == "value")
    #expect(try probe.run("get", "standard", "k").output == "nil")
    #expect(try probe.run("synced-synchronize", "standard").output == "true")
    let names = try FileManager.default.contentsOfDirectory(atPath: probe.home.appending(path: "SyncedPreferences").path)
    #expect(names.contains("PreferenceProbe.journal") || names.contains("PreferenceProbe.plist"))
  }

  @Test func aValueSurvivesAKill() throws {
    for round in 0..<20 {
      #expect(try probe.run("synced-kill", "standard", "value\(round)", "k").process.terminationReason == .uncaughtSignal)
      #expect(try probe.run("synced-get", "standard", "k").output == "value\(round)")
    }
  }

  /// The program that synchronises is this process, and the app another one.
  @Test func aProgramIsToldOfOtherDevices() throws {
    let directory = PreferenceDirectory(probe.home.appending(path: "SyncedPreferences").path)
    let projection = SyncedProjection(SyncedStore(try DomainName("PreferenceProbe"), in: directory)) { $0 }
    try projection.receive([.init("early", .string("first"), dot: [1], entry: 1)], .initialSync)
    let watcher = probe.process(["synced-watch", "standard"])
    let (input, output) = (Pipe(), Pipe())
    watcher.standardInput = input
    watcher.standardOutput = output
    try watcher.run()
    var lines = ""
    func read(until text: String) {
      while !lines.contains(text) {
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { return }
        lines += String(decoding: data, as: UTF8.self)
      }
    }
    read(until: "ready\n")
    try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
    // The notification comes from a queue.
    read(until: "synchronize true\n")
    read(until: "1 early first\n")
    _ = try probe.run("synced-set", "standard", "near", "k")
    for number in 2...4 {
      try projection.receive([.init("k\(number)", .string("far"), dot: [1], entry: UInt64(number))], .serverChange)
      read(until: "0 k\(number) far\n")
    }
    #expect(try projection.pending().map(\.key) == ["k"])
    try input.fileHandleForWriting.close()
    watcher.waitUntilExit()
    let said = lines.split(separator: "\n").map(String.init)
    #expect(said.first == "ready" && Set(said[1...2]) == ["1 early first", "synchronize true"])
    #expect(said.dropFirst(3) == ["0 k2 far", "0 k3 far", "0 k4 far"])
  }

  private func run(_ store: String?, _ arguments: String...) throws -> (output: String, errors: String) {
    let process = probe.process(arguments)
    var environment = process.environment ?? [:]
    environment["COFFER_HOME"] = nil
    environment["COFFER_APP"] = Self.app
    environment["COFFER_CONTAINER"] = probe.home.appending(path: "Containers/\(Self.app)").path
    environment["COFFER_APP_GROUPS"] = probe.home.appending(path: "Groups/\(Self.group)").path
    environment["COFFER_APP_STORE"] = store
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

  @Test(arguments: [app, group]) func anAppHasTheStoreOfItsManifest(store: String) throws {
    for path in ["Containers/\(Self.app)", "Groups/\(Self.group)"] {
      try FileManager.default.createDirectory(
        at: probe.home.appending(path: "\(path)/Library"), withIntermediateDirectories: true)
    }
    _ = try run(store, "synced-set", "standard", "value", "k")
    #expect(try run(store, "synced-synchronize", "standard").output == "true")
    let path = store == Self.app ? "Containers/\(store)" : "Groups/\(store)"
    let directory = PreferenceDirectory(probe.home.appending(path: "\(path)/Library/SyncedPreferences").path)
    #expect(FileDomain(try DomainName(store), in: directory).value(forKey: "k") == .string("value"))
  }

  @Test func anAppWithoutAnEntitlementKeepsItsValuesHere() throws {
    _ = try run(nil, "synced-set", "standard", "value", "k")
    #expect(try run(nil, "synced-get", "standard", "k").output == "value")
    let result = try run(nil, "synced-synchronize", "standard")
    #expect(result.output == "false" && result.errors.contains("ubiquity-kvstore-identifier"))
    // A group that the app does not have.
    let other = try run("\(Self.team).other", "synced-synchronize", "standard")
    #expect(other.output == "false" && other.errors.contains("noPlace"))
  }
}
