import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

/// A rotated file as the reference implementation reads it.
@Suite struct RotatedFileTests {
  private static func filled(_ path: String) throws -> Vault {
    let team = try AccessGroup("team")
    var vault = try Vault.throwAway(in: FileStore.create(at: path))
    try vault.createGroup(team, at: .test)
    try vault.transaction { transaction in
      for number in 0..<30 {
        try transaction.add(
          Item(service: "s", account: "\(number)"), secret: Secret(testing: "secret \(number)"),
          to: number % 2 == 0 ? .standard : team,
          at: .test)
      }
    }
    let first = try #require(try vault.entry(Item(service: "s", account: "0"))).reference
    try vault.update(first, secret: Secret(testing: "newer"), at: .test)
    let removed = try vault.add(Item(service: "s", account: "removed"), secret: Secret(testing: "gone"), at: .test)
    try vault.remove(removed, at: .test)
    return vault
  }

  /// - Parameter parts: The parts of a rotation that are done.
  /// - Returns: The output of `old_keys.py`: boxes that the old keys open, boxes that the new keys open, boxes of the old file.
  private static func counts(master: Bool, groups: Bool) throws -> (old: Int, new: Int, past: Int, verdict: String) {
    let directory = try Directory(inMemory: true)
    let (path, old, key) = (directory.file("vault.coffer"), directory.file("old.coffer"), directory.file("key"))
    try Data([UInt8](repeating: 0x54, count: 64)).write(to: URL(filePath: key))
    try filled(path).close()
    _ = try FileStore(at: path).checkpoint()
    try FileManager.default.copyItem(atPath: path, toPath: old)
    var vault = try Vault.openThrowAway(FileStore(at: path))
    if master {
      var renewal = try MasterKeyRenewal(of: vault.status())
      try renewal.seal(vault.openedSlot, under: try .throwAway(), kdf: .floor)
      try renewal.commit(to: &vault)
    }
    if groups { try vault.rekey(vault.groups()) }
    try vault.close()
    // As a rotation ends: gaps within pages may still have bytes of old boxes.
    try FileStore(at: path).rebuild()
    _ = try FileStore(at: path).checkpoint()
    let answer = try ReferenceVectorTests.python(["old_keys.py", old, path, key])
    let text = String(decoding: answer.output, as: UTF8.self)
    let lines = text.split(separator: "\n")
    let numbers = (lines.first ?? "").split(separator: " ").compactMap { Int($0) }
    try #require(answer.status == 0 && lines.count == 2 && numbers.count == 3, "\(text)")
    return (numbers[0], numbers[1], numbers[2], String(lines[1]))
  }

  @Test func oldKeysOpenNothingAndNewKeysEverything() throws {
    let counts = try Self.counts(master: true, groups: true)
    #expect(counts.old == 0 && counts.past == 0, "\(counts)")
    // 30 items, a former version, a removed item and two groups; each has two boxes.
    #expect(counts.new == 68 && counts.verdict == "sound", "\(counts)")
  }

  /// The controls: a rotation that leaves something out is found.
  @Test func whatKeepsItsKeyIsFound() throws {
    let masterOnly = try Self.counts(master: true, groups: false)
    #expect(masterOnly.old == 64 && masterOnly.past == 64 && masterOnly.verdict == "sound", "\(masterOnly)")
    let groupsOnly = try Self.counts(master: false, groups: true)
    #expect(groupsOnly.old > 0 && groupsOnly.past == 0, "\(groupsOnly)")
  }
}
