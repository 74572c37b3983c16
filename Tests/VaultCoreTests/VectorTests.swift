import CofferTesting
import Foundation
import Testing

@testable import Passphrases
@testable import SecretMemory
@testable import VaultCore

/// The worked values of FORMAT.md, computed by the code that uses them.
@Suite struct VectorTests {
  /// `Tests/Vectors/values.txt`.
  static let values: [String: [UInt8]] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Vectors/values.txt")
    var values: [String: [UInt8]] = [:]
    for line in try! String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.components(separatedBy: " = ")
      values[parts[0]] = stride(from: 0, to: parts[1].count, by: 2).map { index in
        let start = parts[1].index(parts[1].startIndex, offsetBy: index)
        return UInt8(parts[1][start..<parts[1].index(start, offsetBy: 2)], radix: 16)!
      }
    }
    return values
  }()

  func value(_ name: String) throws -> [UInt8] { try #require(Self.values[name], "no value \(name)") }
  func key(_ name: String) throws -> Key { try key(bytes: value(name)) }
  func key(bytes: [UInt8]) throws -> Key {
    guard let key = Key(try Secret(testing: bytes)) else { throw VaultError(.recordMalformed, "not 32 bytes") }
    return key
  }
  func id(_ name: String) throws -> Identifier { try #require(Identifier(value(name))) }
  func plain(_ key: borrowing Key) -> [UInt8] { key.secret.copyIntoUnprotectedBytes() }

  func keys(device: Bool = false) throws -> VaultKeys {
    try VaultKeys(
      master: key("master-key"), vault: id("vault-id"), device: device ? Secret(testing: value("device.key")) : nil)
  }

  @Test func keysOfTheVault() throws {
    let master = try key("master-key")
    let vault = try id("vault-id")
    for (label, name) in [(Label.header, "K_hdr"), (.tree, "K_tree"), (.systemGroup, "K_sys")] {
      let derived = plain(try master.derive(.vault(label, vault)))
      #expect(try derived == value(name))
    }
  }

  @Test func padding() throws {
    let empty = try Padding.pad(Secret(count: 0)).copyIntoUnprotectedBytes()
    let hunter = try Padding.pad(Secret(testing: "hunter2")).copyIntoUnprotectedBytes()
    #expect(try empty == value("pad.empty"))
    #expect(try hunter == value("pad.hunter2"))
    let sizes = [0, 127, 128, 255, 256, 4095, 4096, 8191, 8192, 1 << 20].map(Padding.paddedCount)
    #expect(sizes == [128, 128, 256, 256, 512, 4096, 8192, 8192, 12_288, 1_052_672])
  }

  @Test func box() throws {
    let key = try key(bytes: Array(0..<32))
    let box = SecretBox.sealUnpadded(try Padding.pad(Secret(testing: "hunter2")), nonce: Array(0..<24), key: key)
    #expect(try box == value("box.hunter2"))
  }

  @Test(arguments: ["slot1.row", "slot-type2.row", "slot-type3.row", "slot-type4.row"])
  func slotsOpen(row: String) throws {
    let slot = try KeySlot(index: 1, parsing: value(row))
    let credential: Credential
    switch slot.type {
    case .passphrase: credential = try .passphrase(Secret(testing: value("slot1.passphrase-nfd")))
    case .recoveryKey: credential = try .recoveryKey(Secret(testing: value("recovery.text")))
    case .keyFile: credential = try .keyFile(Secret(testing: value("keyfile.content")))
    case .passphraseAndKeyFile, .external:
      credential = try .passphrase(
        Secret(testing: value("slot1.passphrase")), andKeyFile: Secret(testing: value("keyfile.content")))
    }
    guard let master = try slot.open(with: credential, vault: id("vault-id"), ceiling: .standard) else {
      throw VaultError(.wrongCredential)
    }
    let bytes = plain(master)
    #expect(try bytes == value("master-key"))
  }

  @Test func recoveryKeyText() throws {
    let text = try RecoveryKey.text(key("recovery.key")).copyIntoUnprotectedBytes()
    #expect(try text == value("recovery.text"))
  }

  @Test func passphraseIsNormalized() throws {
    let normalized = try NormalizedText(composing: Secret(testing: value("slot1.passphrase-nfd"))).bytes
      .copyIntoUnprotectedBytes()
    #expect(try normalized == value("slot1.passphrase"))
  }

  @Test(arguments: ["1", "2"]) func groupRecord(version: String) throws {
    let keys = try keys(device: true)
    let record = SealedRecord(
      id: try id("group.record-id"), group: .zero, meta: try value("group.ver\(version).m"),
      attributes: try value("group.ver\(version).a"), secret: try value("group.ver\(version).s"))
    #expect(try record.head.secretDigest == value("group.ver\(version).d"))
    #expect(try keys.integrity.leaf(record.head).bytes == value("group.ver\(version).leaf"))
    let header = try SealedHeader(parsing: value("g2.header")).header
    let group = try keys.openGroup(
      record.head, secret: record.secret, meta: RecordMeta(parsing: record.head, header: header))
    #expect(group.group == .standard)
    #expect(try group.groupID == id("group.gid"))
    #expect(try group.attributes == value("group.attributes"))
    let encoded = try group.encodeSecret().copyIntoUnprotectedBytes()
    #expect(try encoded == value("group.secret.ver\(version)"))
    for (accessibility, name) in [(Accessibility.whenUnlocked, "1"), (.afterFirstUnlock, "2")] {
      let key = plain(try group.key(accessibility, epoch: 1, keys: keys))
      #expect(try key == value("group.key.class\(name).epoch1"))
    }
    if version == "2" {
      let key = plain(try group.key(.whenUnlockedThisDevice, epoch: 1, keys: keys))
      #expect(try key == value("group.key.class3.epoch1"))
      #expect(code { _ = try group.key(.whenUnlockedThisDevice, epoch: 1, keys: self.keys()) } == .deviceKeyMissing)
    }
  }

  @Test func itemRecord() throws {
    let keys = try keys()
    let record = SealedRecord(
      id: try id("item.id"), group: try id("group.gid"), meta: try value("item.ver7.m"), attributes: try value("item.ver7.a"),
      secret: try value("item.ver7.s"))
    #expect(try record.head.secretDigest == value("item.ver7.d"))
    #expect(try keys.integrity.leaf(record.head).bytes == value("item.ver7.leaf"))
    let meta = try RecordMeta(parsing: record.head, header: SealedHeader(parsing: value("g7.header")).header)
    let seal = RecordSeal(vault: keys.vault, id: record.id, group: record.group, meta: meta)
    let groupKey = try key("group.key.class1.epoch1")
    let attributes = try seal.open(.attributes, record.attributes, with: groupKey).copyIntoUnprotectedBytes()
    #expect(try attributes == value("item.attributes"))
    let item = try Item(decoding: attributes)
    #expect(try item.encoded == value("item.attributes"))
    #expect(try TLV.encode(item.primaryKey) == value("item.primary"))
    let secret = try seal.open(.secret, record.secret, with: groupKey).copyIntoUnprotectedBytes()
    #expect(try secret == value("item.secret"))
  }

  private func record(_ name: String, group: Identifier) throws -> SealedRecord {
    let record = SealedRecord(
      id: try id("\(name).id"), group: group, meta: try value("\(name).ver7.m"), attributes: try value("\(name).ver7.a"),
      secret: try value("\(name).ver7.s"))
    #expect(try record.head.secretDigest == value("\(name).ver7.d"))
    #expect(try keys().integrity.leaf(record.head).bytes == value("\(name).ver7.leaf"))
    return record
  }

  /// A former version, and the head of the removed item.
  @Test(arguments: ["history", "head"]) func formerVersions(name: String) throws {
    let keys = try keys()
    let record = try record(name, group: id("group.gid"))
    let header = try SealedHeader(parsing: value("g7.header")).header
    let meta = try RecordMeta(parsing: record.head, header: header)
    let opened = try RecordSeal(vault: keys.vault, id: record.id, group: record.group, meta: meta)
      .open(.attributes, record.attributes, with: key("group.key.class1.epoch1")).copyIntoUnprotectedBytes()
    #expect(try meta.kind == .history && opened == value("\(name).attributes"))
    var item = try Item(decoding: opened)
    let marks = try HistoryMarks(takenFrom: &item, isItem: false)
    #expect(try item.encoded == value("item.attributes"))
    let (origin, created) = (try id("item.id"), Int64(1_700_000_000))
    func version(_ number: UInt64, _ seconds: Int64) -> FormerVersion {
      FormerVersion(origin: origin, number: number, replaced: Timestamp(secondsSince1970: created + seconds))
    }
    let former = [version(6, 120), version(3, 60)]
    let expected = name == "head" ? HistoryMarks(version(7, 180), former: former) : HistoryMarks(version(6, 120), former: nil)
    #expect(try marks == expected && item.encoded(expected) == value("\(name).attributes"))
    #expect(try item.encoded(HistoryMarks(former: former, number: 7)) == value("history.item"))
    let group = SealedRecord(
      id: try id("group.record-id"), group: .zero, meta: try value("group.ver2.m"), attributes: try value("group.ver2.a"),
      secret: try value("group.ver2.s"))
    let groupKeys = try keys.openGroup(
      group.head, secret: group.secret, meta: RecordMeta(parsing: group.head, header: header))
    #expect(groupKeys.historyID(origin, name == "head" ? .max : 6) == record.id)
  }

  @Test func policy() throws {
    let keys = try keys()
    let record = try record("policy", group: .zero)
    #expect(try keys.policyID("limits") == record.id)
    let store = MemoryStore()
    store.header[0] = try value("g7.header")
    let limits = try #require(try ProvenState(proving: store, keys: keys).openLimits(record.head, secret: record.secret))
    #expect(limits[.historyVersions] == 20 && limits[.historyDays] == nil && limits.value(.historyDays) == 90)
    var attributes = limits.attributes
    attributes["policy"] = .text("limits")
    #expect(try TLV.encode(attributes) == value("policy.attributes"))
  }

  @Test(arguments: [("item", 1), ("id2", 2), ("id3", 3), ("id4", 4), ("id5", 5)])
  func itemIdentifiers(name: String, rawClass: Int) throws {
    let itemClass = try #require(ItemClass(rawValue: UInt8(rawClass)))
    let item = Item(itemClass, try TLV.decode(value("\(name).primary")))
    #expect(try TLV.encode(item.primaryKey) == value("\(name).primary"))
    let record = SealedRecord(
      id: try id("group.record-id"), group: .zero, meta: try value("group.ver1.m"), attributes: try value("group.ver1.a"),
      secret: try value("group.ver1.s"))
    let header = try SealedHeader(parsing: value("g1.header")).header
    let group = try keys().openGroup(
      record.head, secret: record.secret, meta: RecordMeta(parsing: record.head, header: header))
    #expect(try group.itemID(item) == id("\(name).id"))
  }

  @Test(arguments: [1, 2, 7]) func headers(generation: Int) throws {
    let keys = try keys()
    let sealed = try SealedHeader(parsing: value("g\(generation).header"))
    try sealed.prove(with: keys.integrity)
    #expect(try sealed.mac.bytes == value("g\(generation).header-mac"))
    #expect(sealed.header.generation == UInt64(generation))
    #expect(sealed.header.sealed(with: keys.integrity).bytes == sealed.bytes)
    let root = Node(prefix: [], isLeaf: true, unchecked: try value("g\(generation).root-body"))
    try root.checkOrder()
    #expect(try keys.integrity.node(root, depth: 0).bytes == value("g\(generation).root-digest"))
    #expect(keys.integrity.node(root, depth: 0) == sealed.header.root)
    // The rows of the whole vault, proven.
    let store = MemoryStore()
    store.header[0] = sealed.bytes
    store.header[1] = try value("slot1.row")
    if generation > 1 { store.header[9] = try value("g\(generation).ring") }
    _ = try SlotRows(proving: store, header: sealed.header, keys: keys.integrity)
    #expect(try sealed.header.slotsDigest.bytes == value("g\(generation).slots-digest"))
  }

  @Test(arguments: [2, 7]) func anchors(generation: Int) throws {
    let keys = try keys()
    let sealed = try SealedHeader(parsing: value("g\(generation).header"))
    #expect(try Anchor(sealed).sealed(with: keys.integrity) == value("g\(generation).anchor"))
    let anchor = try Anchor(parsing: value("g\(generation).anchor"), keys: keys.integrity)
    #expect(anchor.generation == UInt64(generation) && anchor.mac == sealed.mac)
  }

  @Test(arguments: [1, 2]) func deeperTrees(depth: Int) throws {
    let keys = try keys().integrity
    for (name, body) in Self.values where name.hasPrefix("depth\(depth).node-") && name.hasSuffix(".body") {
      let label = name.dropFirst("depth\(depth).node-".count).dropLast(".body".count)
      let prefix =
        label == "root" ? [] : stride(from: 0, to: label.count, by: 2).map { UInt8(label.dropFirst($0).prefix(2), radix: 16)! }
      let node = Node(prefix: prefix, isLeaf: prefix.count == depth, unchecked: body)
      try node.checkOrder()
      #expect(try keys.node(node, depth: depth).bytes == value(name.replacing(".body", with: ".digest")))
    }
  }

  @Test func emptyRoot() throws {
    #expect(try keys().integrity.node(Node(prefix: [], isLeaf: true), depth: 0).bytes == value("empty.root-digest"))
  }
}
