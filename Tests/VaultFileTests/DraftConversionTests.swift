import CofferStorage
import CofferTesting
import Foundation
import Testing

@testable import AccessRights
@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// A vault of the draft becomes one of the format, with everything that was in it, or its file stays as it is.
@Suite struct DraftConversionTests {
  static let vectors = ReferenceVectorTests.reference.appending(path: "../Vectors/Draft")
  let directory: Directory
  let path: String

  init() throws {
    directory = try Directory(inMemory: true)
    path = directory.file("vault.coffer")
    try Self.bytes("vault.coffer").write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  static func bytes(_ name: String) throws -> Data { try Data(contentsOf: vectors.appending(path: name)) }

  static func secret(_ name: String) throws -> Secret { try Secret(testing: Array(bytes(name))) }

  private var anchors: AnchorFiles { AnchorFiles(in: directory.file("anchors"), forVaultAt: path) }

  private func sql(_ statements: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/sqlite3")
    process.arguments = [path, statements]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(statements)")
  }

  /// The content of a record, without its identifier and version.
  struct Content: Equatable {
    let kind: UInt8
    let group: Identifier
    let accessibility: UInt8
    let epoch: UInt32
    let attributes: [UInt8]
    let secret: [UInt8]
  }

  /// Everything in rows, opened with nothing but the boxes' keys.
  static func contents(
    _ rows: any Rows, _ secret: (RecordHead) throws -> [UInt8], _ keys: VaultKeys
  ) throws -> [Identifier: Content] {
    var contents: [Identifier: Content] = [:]
    var groups: [Identifier: GroupKeys] = [:]
    for isItem in [false, true] {
      try rows.forEachRecord(under: []) { id, row in
        let record = try row.get()
        guard (record.meta[0] == 1) == isItem else { return }
        var reader = ByteReader(Array(record.meta[4...]), orThrow: .recordMalformed)
        let epoch: UInt32 = try reader.readInteger()
        let meta = RecordMeta(
          kind: try #require(RecordKind(rawValue: record.meta[0])),
          accessibility: try #require(Accessibility(rawValue: record.meta[1])), epoch: epoch, version: try reader.readInteger())
        let seal = RecordSeal(vault: keys.vault, id: record.id, group: record.group, meta: meta)
        let key: Key
        if isItem {
          key = try #require(groups[record.group]).key(meta.accessibility, epoch: epoch, keys: keys)
        } else {
          key = try keys.withMaster { try $0.derive(.vault(.systemGroup, keys.vault)) }
        }
        let attributes = try seal.open(.attributes, record.attributes, with: key).copyIntoUnprotectedBytes()
        let plain = try seal.open(.secret, secret(record), with: key)
        if meta.kind == .group {
          let group = try GroupKeys.decode(attributes: attributes, secret: plain, version: 1)
          groups[group.groupID] = group
        }
        contents[try #require(id)] = Content(
          kind: record.meta[0], group: record.group, accessibility: record.meta[1], epoch: epoch, attributes: attributes,
          secret: plain.copyIntoUnprotectedBytes())
      }
    }
    return contents
  }

  private func keys(_ store: any Store) throws -> VaultKeys {
    try DraftVault(opening: store, with: .keyFile(Self.secret("key")), deviceKey: Self.secret("device.key")).keys
  }

  @discardableResult private func convert() throws -> Int { try convert(deviceKey: Self.secret("device.key")) }

  private func convert(deviceKey: consuming Secret?) throws -> Int {
    let draft = try DraftFile(at: path, busyTimeout: .milliseconds(100))
    let opened = try DraftVault(
      opening: draft, with: .keyFile(Self.secret("key")), deviceKey: deviceKey)
    let verification = try draft.convert { rows, write in
      try opened.convert(rows, leavesDamaged: false, write: write)
    } verify: {
      try opened.verify($0, anchor: anchors)
    }
    #expect(verification.problems == [])
    return opened.leftOut.count
  }

  /// Each of the 273 records says the same after as before, byte by byte, and lies under the identifier that the format gives it.
  @Test func everyRecordIsKept() throws {
    let draft = try DraftFile(at: path)
    let keys = try keys(draft)
    let opened = try DraftVault(
      opening: draft, with: .keyFile(Self.secret("key")), deviceKey: Self.secret("device.key"))
    var before: [Identifier: Content] = [:]
    let after = try draft.convert { rows, write in
      before = try Self.contents(rows, { $0.secretDigest }, keys)
      return try opened.convert(rows, leavesDamaged: false, write: write)
    } verify: { rows in
      #expect(try opened.verify(rows, anchor: anchors).recordCount == 273)
      return try Self.contents(rows, { try rows.secret($0.id) ?? [] }, keys)
    }
    #expect(before.count == 273)
    let expected = before.map { id, content in (content.kind == 1 ? id.ofItem : id.ofSystemRecord, content) }
    #expect(after == Dictionary(uniqueKeysWithValues: expected))
  }

  /// The fixture's own list, with the values that the programs of the time stored.
  @Test func itIsTheVaultThatItWas() throws {
    let before = try Vault.inspect(DraftFile(at: path))
    #expect(try convert() == 0)
    let store = try FileStore(at: path)
    #expect(try Data(contentsOf: URL(filePath: "\(path).draft")) == Self.bytes("vault.coffer"))
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { !$0.hasPrefix("vault.coffer-") }
    #expect(Set(names) == ["vault.coffer", "vault.coffer.draft", "vault.coffer.lock"])
    let vault = try Vault.open(store, with: .keyFile(Self.secret("key")), deviceKey: Self.secret("device.key"))
    let status = try vault.status()
    #expect(status.id == before.id && status.created == before.created && status.generation == before.generation + 1)
    #expect(status.slots == before.slots && status.recordCount == before.recordCount)
    #expect(try vault.verify().isSound)
    #expect(try vault.entries().entries.count == 260)

    func lines(_ data: Data) throws -> [[String: NSObject]] {
      try data.split(separator: UInt8(ascii: "\n")).map {
        var line = try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: NSObject])
        line["id"] = nil
        line["ver"] = nil
        return line
      }
    }
    let many = NSString("many")
    let found = try lines(Dump.lines(vault)).filter { $0["group"] != many || $0["gid"] != nil }
    let expected = try lines(Self.bytes("contents.jsonl"))
    #expect(expected.count == 17 && Set(found) == Set(expected))
    for number in 1...250 {
      let reference = try #require(
        try vault.entry(Item(service: "many", account: "\(number)"), in: AccessGroup("many"))?.reference)
      let bytes = try vault.secret(of: reference).copyIntoUnprotectedBytes()
      #expect(bytes == Array("secret \(number)".utf8))
    }
    let pins = try vault.pins()
    #expect(pins.count == 2 && pins.filter { $0.removed != nil }.count == 1)
    #expect(try vault.grants().count == 4)
    // The other ways in.
    #expect(throws: VaultError(.wrongCredential)) {
      _ = try Vault.open(store, with: .keyFile(Secret(testing: [UInt8](repeating: 1, count: 64))))
    }
    var text = try Self.secret("recovery")
    text.dropLineEnd()
    _ = try Vault.open(store, with: .recoveryKey(text))
    #expect(throws: StorageError(.notAVault)) { _ = try DraftFile(at: path) }
  }

  /// An older file is not made the newest by its conversion. One that continues the state last seen is accepted.
  @Test func anOlderDraftIsRefused() throws {
    let draft = try DraftFile(at: path)
    let keys = try keys(draft)
    let row = try draft.read { try SealedHeader(reading: $0) }
    for (newer, code) in [(UInt64(2), "rolledBack"), (1, "forked")] {
      var header = row.header
      header.generation += newer
      let seen = header.sealed(with: keys.integrity)
      try anchors.update(keys.vault, isDurable: false) { _ in Anchor(seen).sealed(with: keys.integrity) }
      #expect(VaultFileTests.code { try convert() } == code)
      #expect(try Data(contentsOf: URL(filePath: path)) == Self.bytes("vault.coffer"))
    }
    try anchors.update(keys.vault, isDurable: false) { _ in Anchor(row).sealed(with: keys.integrity) }
    #expect(try convert() == 0)
  }

  // MARK: Refusals

  struct Damage: Sendable, CustomTestStringConvertible {
    let name: String
    let code: String
    /// Whether the error names the record.
    var isOfOne = true
    let sql: String
    var testDescription: String { name }
  }

  /// `$` is an item of the vault, `#` the record of a group.
  static let damages = [
    Damage(name: "attributes", code: "recordForged", sql: "UPDATE rec SET a=zeroblob(length(a)) WHERE id=$"),
    Damage(name: "secret", code: "recordForged", sql: "UPDATE rec SET s=zeroblob(length(s)) WHERE id=$"),
    Damage(name: "group", code: "recordForged", sql: "UPDATE rec SET s=zeroblob(length(s)) WHERE id=#"),
    Damage(name: "row gone", code: "recordMissing", sql: "DELETE FROM rec WHERE id=$"),
    Damage(name: "group gone", code: "recordMissing", sql: "DELETE FROM rec WHERE id=#"),
    Damage(name: "column", code: "columnMismatch", sql: "UPDATE rec SET m='text' WHERE id=$"),
    Damage(name: "long column", code: "columnMismatch", sql: "UPDATE rec SET s=zeroblob(3000000) WHERE id=$"),
    Damage(
      name: "planted row", code: "recordUnlisted", isOfOne: false,
      sql: "INSERT INTO rec SELECT zeroblob(16),grp,m,a,s FROM rec WHERE id=$"),
    Damage(name: "node gone", code: "nodeMissing", isOfOne: false, sql: "DELETE FROM node WHERE p=substr(X'00010203',2,1)"),
    Damage(name: "node", code: "nodeForged", isOfOne: false, sql: "UPDATE node SET b=zeroblob(33) WHERE p=X''"),
    Damage(
      name: "header", code: "headerForged", isOfOne: false,
      sql: "UPDATE hdr SET v=CAST(substr(v,1,56)||X'01'||substr(v,58) AS BLOB) WHERE k=0"),
    Damage(name: "ring", code: "slotsForged", isOfOne: false, sql: "UPDATE hdr SET v=zeroblob(2048) WHERE k=9"),
    Damage(name: "schema", code: "schemaAltered", isOfOne: false, sql: "CREATE TABLE t(a)"),
  ]

  @Test(arguments: damages) func damageIsNamedAndNothingIsChanged(_ damage: Damage) throws {
    let item = "eb8c74f6416e4cd1d930beb86d8abaf1"
    let group = "c042527e58980f4df0669b4d61980f70"
    let sql = damage.sql.replacing("$", with: "X'\(item)'").replacing("#", with: "X'\(group)'")
    try self.sql(sql)
    let bytes = try Data(contentsOf: URL(filePath: path))
    #expect(try bytes != Self.bytes("vault.coffer"))
    var failure: (any Error)?
    do { try convert() } catch { failure = error }
    #expect(VaultFileTests.code { throw try #require(failure) } == damage.code, "\(String(describing: failure))")
    if damage.isOfOne { #expect("\(try #require(failure))".contains(damage.sql.contains("#") ? group : item)) }
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(!names.contains { $0.hasSuffix(".draft") || $0.hasSuffix(".new") }, "\(names)")
  }

  @Test(arguments: [false, true]) func itemsOfAnotherDeviceAreCounted(hasKey: Bool) throws {
    #expect(try convert(deviceKey: hasKey ? Secret(testing: [UInt8](repeating: 9, count: 32)) : nil) == 3)
    let vault = try Vault.open(FileStore(at: path), with: .keyFile(Self.secret("key")), deviceKey: Self.secret("device.key"))
    #expect(try vault.entries().entries.count == 257)
    #expect(try vault.verify().isSound)
  }

  @Test func anotherFileUnderTheNameOfTheCopyStays() throws {
    let copy = URL(filePath: "\(path).draft")
    try Data("other".utf8).write(to: copy)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path())
    #expect(VaultFileTests.code { try convert() } == "vaultExists")
    #expect(try Data(contentsOf: copy) == Data("other".utf8))
    #expect(try Data(contentsOf: URL(filePath: path)) == Self.bytes("vault.coffer"))
    // The copy of a conversion that did not come to its end is the same.
    try Self.bytes("vault.coffer").write(to: copy)
    #expect(try convert() == 0)
  }

  /// By a program of the time that reads the state in the file while changes lie in the log.
  @Test func aFileInUseIsRefused() throws {
    let reader = try DraftFile(at: path)
    try reader.read { rows in
      _ = try rows.header(0)
      try sql("CREATE TABLE t(a); DROP TABLE t")
      #expect(VaultFileTests.code { try convert() } == "busy")
    }
    #expect(try convert() == 0)
  }
}
