import Children
import CofferFiles
import CofferStorage
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferLifecycle

private struct Own: Error {}

@Suite struct ExportTests {
  private static func key() throws -> Credential { try .keyFile(Secret(testing: [UInt8](repeating: 7, count: 32))) }

  private static func export(_ fixture: Fixture, to name: String = "out", _ fill: (inout Vault) throws -> Void) throws {
    let export = try VaultExport(at: "\(fixture.directory)/\(name)", besides: fixture.path)
    try export.finish(with: key(), kdf: .standard, at: .test, fill)
  }

  /// Random items in random groups, of each class that leaves a device: each of them is there, and nothing else.
  @Test(arguments: 1...10) func everyItemThatIsWrittenIsThereAndTheVaultIsSound(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let fixture = Fixture()
    var expected: [String: (group: String, text: String, accessible: Accessibility)] = [:]
    for index in 0..<Int.random(in: 1...60, using: &random) {
      let text = String(repeating: "x", count: Int.random(in: 0...3000, using: &random)) + "\(index)"
      let accessible: Accessibility = Bool.random(using: &random) ? .whenUnlocked : .afterFirstUnlock
      expected["\(index)"] = ("group \(Int.random(in: 0..<4, using: &random))", text, accessible)
    }
    try Self.export(fixture) { vault in
      for (account, item) in expected {
        let group = try AccessGroup(item.group)
        if try !vault.contains(group) { try vault.createGroup(group, at: .test) }
        let secret = try Secret(testing: item.text)
        try vault.add(
          Item(service: "item", account: account), secret: secret, to: group, accessible: item.accessible, at: .test)
      }
    }
    let made = try Vault.open(FileStore(at: "\(fixture.directory)/out"), with: Self.key())
    let entries = try made.entries().entries
    #expect(entries.count == expected.count)
    for entry in entries {
      let item = try #require(expected[entry.item["account"] ?? ""])
      #expect(entry.reference.group.name == item.group && entry.accessibility == item.accessible)
      #expect(try made.secret(of: entry.reference).isEqual(to: Secret(testing: item.text)))
    }
    #expect(try made.verify().isSound)
  }

  @Test func anErrorOnTheWayLeavesNothing() throws {
    let fixture = Fixture()
    #expect(throws: Own.self) {
      try Self.export(fixture) { vault in
        try vault.add(Item(service: "item", account: "0"), secret: Secret(testing: "x"), at: .test)
        throw Own()
      }
    }
    #expect(fixture.names() == [])
  }

  /// Something that appears at the path while the vault is filled stays as it is.
  @Test func nothingIsReplaced() throws {
    let fixture = Fixture()
    #expect(throws: LifecycleError(.backupExists)) {
      try Self.export(fixture) { _ in run("sh", "-c", "echo other >\(fixture.directory)/out") }
    }
    #expect(fixture.names() == ["out"] && run("cat", "\(fixture.directory)/out") == ["other"])
    #expect(throws: LifecycleError(.backupExists)) { try Self.export(fixture) { _ in throw Own() } }
    try fixture.makeVault()
    #expect(throws: LifecycleError(.isTheVault)) { try Self.export(fixture, to: "vault.coffer") { _ in throw Own() } }
    #expect(throws: LifecycleError(.directoryMissing)) { try Self.export(fixture, to: "none/out") { _ in throw Own() } }
  }

  /// The control: rows that are changed on their way to the disk keep the file from its name.
  @Test func aFileThatDoesNotProveGetsNoName() throws {
    let fixture = Fixture()
    #expect(throws: (any Error).self) {
      let export = try VaultExport(at: "\(fixture.directory)/out", besides: nil)
      #expect(fixture.names() == [])
      try export.finish(with: Self.key(), kdf: .standard, at: .test) { vault in
        // The maker has the file open under its temporary name; the end of it is lost.
        let name = try #require(fixture.names().first { $0.contains("out") })
        for index in 0..<200 {
          let secret = try Secret(testing: String(repeating: "x", count: 2000))
          try vault.add(Item(service: "item", account: "\(index)"), secret: secret, at: .test)
        }
        run("rm", "\(fixture.directory)/\(name)")
        run("sh", "-c", "umask 077; : >\(fixture.directory)/\(name)")
      }
    }
    #expect(!fixture.names().contains("out"))
  }

  @Test func whatAKilledExportHasLeftIsRemovedByTheNext() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    run("cp", fixture.path, "\(fixture.directory)/.out.0123456789abcdef.new")
    run("cp", fixture.path, "\(fixture.directory)/.other.0123456789abcdef.new")
    try Self.export(fixture) { _ in }
    #expect(fixture.names().filter { $0.hasSuffix(".new") } == [".other.0123456789abcdef.new"])
    #expect(fixture.names().contains("out"))
  }
}

@Suite struct ForeignVaultTests {
  @Test func theFileIsNotOpenedWhereItLiesAndItsCopyGoes() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    run("mkdir", fixture.backups.path)
    run("sh", "-c", "mkdir \(fixture.directory)/stick && cp \(fixture.path) \(fixture.directory)/stick/copy")
    run("chmod", "0444", "\(fixture.directory)/stick/copy")
    do {
      let foreign = try ForeignVault(
        copiedFrom: "\(fixture.directory)/stick/copy", besides: fixture.path, in: fixture.backups, step: { _, _ in })
      let vault = try Vault.openThrowAway(foreign.store)
      #expect(try vault.entries().entries.count == 3)
      #expect(fixture.names("\(fixture.directory)/stick") == ["copy"])
      #expect(fixture.names(fixture.backups.path).count == 1)
    }
    #expect(fixture.names(fixture.backups.path) == [])
    #expect(throws: LifecycleError(.isTheVault)) {
      _ = try ForeignVault(copiedFrom: fixture.path, besides: fixture.path, in: fixture.backups, step: { _, _ in })
    }
    // Nothing of a file is copied that is no vault by its first bytes.
    run("truncate", "-s", "1G", "\(fixture.directory)/stick/empty")
    var pieceCount = 0
    #expect(throws: StorageError(.notAVault)) {
      _ = try ForeignVault(
        copiedFrom: "\(fixture.directory)/stick/empty", besides: fixture.path, in: fixture.backups,
        step: { _, _ in pieceCount += 1 })
    }
    #expect(pieceCount == 0)
    #expect(throws: StorageError(.noVault)) {
      _ = try ForeignVault(copiedFrom: "/none", besides: fixture.path, in: fixture.backups, step: { _, _ in })
    }
  }

  /// A commit has at most 500 changes, and none after the one that reaches 16 MiB.
  @Test(arguments: [(0, 1, 0), (500, 1, 1), (1001, 1, 3), (4, 8 << 20, 2), (3, 17 << 20, 3)])
  func manyItemsTakeFewCommits(count: Int, byteCount: Int, commits: UInt64) throws {
    var vault = try Vault.throwAway()
    func generation() throws -> UInt64 { try vault.transaction { $0.generation } }
    let before = try generation()
    try vault.commitInBatches(0..<count) { number, transaction in
      try transaction.add(Item(service: "\(number)", account: ""), secret: Secret(testing: "x"), at: .test)
      return byteCount
    }
    #expect(try generation() == before + commits)
    #expect(try vault.entries().entries.count == count)
  }

  @Test func aBatchThatFailsIsNotCommitted() throws {
    var vault = try Vault.throwAway()
    #expect(throws: Own.self) {
      try vault.commitInBatches(0..<700) { number, transaction in
        guard number < 600 else { throw Own() }
        try transaction.add(Item(service: "\(number)", account: ""), secret: Secret(testing: "x"), at: .test)
        return 1
      }
    }
    #expect(try vault.entries().entries.count == 500)
  }
}
