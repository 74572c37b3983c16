import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore

@Suite struct TreeTests {
  /// A vault of `count` records in all, the group's own among them.
  func vault(of count: Int, in store: MemoryStore) throws -> Vault {
    var vault = try Vault.throwAway(in: store)
    try vault.transaction { transaction in
      for number in 1..<count {
        try transaction.add(Item(service: "s", account: "\(number)"), secret: Secret(count: 0), at: .test)
      }
    }
    return vault
  }

  @Test(arguments: [(1, 0), (2, 0), (256, 0), (257, 1), (300, 1)])
  func depthFollowsTheCount(count: Int, depth: Int) throws {
    let store = MemoryStore()
    let vault = try vault(of: count, in: store)
    #expect(try vault.status().treeDepth == depth)
    #expect(try vault.status().recordCount == UInt64(count))
    #expect(try vault.verify().problems == [])
    #expect(store.nodes.keys.allSatisfy { $0.count <= depth })
  }

  @Test func growthOneByOneAndBack() throws {
    let store = MemoryStore()
    var vault = try vault(of: 250, in: store)
    var references: [Reference] = []
    for number in 0..<12 {
      references.append(try vault.add(Item(service: "t", account: "\(number)"), secret: Secret(testing: "\(number)"), at: .test))
      #expect(try vault.verify().problems == [])
    }
    #expect(try vault.status().treeDepth == 1)
    for (number, reference) in references.enumerated() {
      #expect(try bytes(of: reference, in: vault) == Array("\(number)".utf8))
      try vault.remove(reference)
    }
    // The depth stays: a vault at the border would rebuild its tree at each step.
    #expect(try vault.status().treeDepth == 1)
    #expect(try vault.verify().problems == [])
  }

  @Test func everythingRemovedLeavesOneRecord() throws {
    let store = MemoryStore()
    var vault = try vault(of: 300, in: store)
    let entries = try vault.entries().entries
    try vault.transaction { transaction in
      for entry in entries { try transaction.remove(entry.reference) }
    }
    #expect(try vault.verify().problems == [])
    // The root, and one leaf node for the group's record.
    #expect(store.nodes.count == 2)
    #expect(store.records.count == 1)
    try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "x"), at: .test)
    #expect(try vault.verify().problems == [])
  }

  /// The tree alone, without sealing: records are leaf digests here.
  @Test func twoLevelsAtSixtyFiveThousand() throws {
    let keys = try VaultKeys(
      master: .random(), vault: #require(Identifier([UInt8](repeating: 1, count: 16))), device: nil
    ).integrity
    let store = MemoryStore()
    func id(_ number: Int) -> Identifier {
      // Spread as a keyed hash spreads them.
      var random = SeededGenerator(seed: UInt64(number))
      var bytes: [UInt8] = []
      bytes.append(littleEndian: random.next())
      bytes.append(littleEndian: random.next())
      return Identifier(bytes) ?? .zero
    }
    func digest(_ number: Int) -> Digest { Digest(unchecked: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)) }
    func apply(_ change: Change) { for (prefix, body) in change.nodes { store.nodes[prefix] = body } }

    var editor = TreeEditor(empty: store, keys: keys)
    for number in 0..<65_536 { try editor.set(id(number), to: digest(number)) }
    #expect(editor.depth == 1)
    var change = Change()
    var root = try editor.finish(into: &change)
    apply(change)

    editor = TreeEditor(ProvenTree(rows: store, depth: 1, root: root, keys: keys), recordCount: 65_536)
    try editor.set(id(65_536), to: digest(65_536))
    #expect(editor.depth == 2)
    #expect(try editor.leaf(id(3)) == digest(3))
    #expect(try editor.leaf(id(70_000)) == nil)
    try editor.set(id(4), to: nil)
    change = Change()
    root = try editor.finish(into: &change)
    apply(change)
    #expect(editor.recordCount == 65_536)

    let tree = ProvenTree(rows: store, depth: 2, root: root, keys: keys)
    #expect(try tree.leafCounts().values.reduce(0, +) == 65_536)
    #expect(try tree.leaf(id(4)) == nil)
    for number in stride(from: 5, through: 65_536, by: 997) { #expect(try tree.leaf(id(number)) == digest(number)) }
    // Nothing of the lower tree is left: every node hangs in the tree.
    var listed = 1
    for index in 0..<(try tree.rootNode().count) {
      let prefix = Array(try tree.rootNode().key(at: index))
      let inner = try #require(try tree.child(prefix[0], of: tree.rootNode()))
      listed += 1 + inner.count
    }
    #expect(store.nodes.count == listed)
  }

  /// Records of one kind share a first byte: the node of that byte must not fill up while the vault has room.
  @Test func aNodeOfOneKindDeepensTheTree() throws {
    let keys = try VaultKeys(master: .random(), vault: #require(Identifier([UInt8](repeating: 1, count: 16))), device: nil)
      .integrity
    let digest = Digest(unchecked: [UInt8](repeating: 3, count: 32))
    func system(_ number: Int) throws -> Identifier {
      try #require(Identifier([0, UInt8(number & 255), UInt8(number >> 8)] + [UInt8](repeating: 5, count: 13)))
    }
    let store = MemoryStore()
    var editor = TreeEditor(empty: store, keys: keys)
    for number in 0..<2048 { try editor.set(system(number), to: digest) }
    #expect(editor.depth == 1)
    var change = Change()
    let root = try editor.finish(into: &change)
    for (prefix, body) in change.nodes { store.nodes[prefix] = body }
    // The same of a tree that was read.
    editor = TreeEditor(ProvenTree(rows: store, depth: 1, root: root, keys: keys), recordCount: 2048)
    try editor.set(system(2047), to: nil)
    try editor.set(system(2047), to: digest)
    #expect(editor.depth == 1)
    try editor.set(system(2048), to: digest)
    #expect(editor.depth == 2)
    change = Change()
    let deeper = try editor.finish(into: &change)
    for (prefix, body) in change.nodes { store.nodes[prefix] = body }
    #expect(try ProvenTree(rows: store, depth: 2, root: deeper, keys: keys).leafCounts().values.max() == 9)
  }

  /// At the greatest depth of the tree, a node accepts 4,096 entries, as a reader does.
  @Test func aFullNodeAndAFullVaultTakeNoMore() throws {
    let keys = try VaultKeys(master: .random(), vault: #require(Identifier([UInt8](repeating: 1, count: 16))), device: nil)
      .integrity
    let digest = Digest(unchecked: [UInt8](repeating: 3, count: 32))
    func crowded(_ number: Int) throws -> Identifier {
      try #require(Identifier([0, 0, UInt8(number & 255), UInt8(number >> 8)] + [UInt8](repeating: 5, count: 12)))
    }
    var editor = TreeEditor(empty: MemoryStore(), keys: keys)
    for number in 0..<4096 { try editor.set(crowded(number), to: digest) }
    #expect(editor.depth == 2)
    #expect(code { try editor.set(crowded(4096), to: digest) } == .vaultFull)

    let store = MemoryStore()
    let root = Node(prefix: [], isLeaf: false)
    store.nodes[[]] = root.body
    let empty = ProvenTree(rows: store, depth: 2, root: keys.node(root, depth: 2), keys: keys, isEmpty: true)
    editor = TreeEditor(empty, recordCount: Header.maximumRecordCount - 1)
    try editor.set(crowded(0), to: digest)
    #expect(editor.recordCount == Header.maximumRecordCount)
    #expect(code { try editor.set(crowded(1), to: digest) } == .vaultFull)
  }

  @Test(arguments: [0, 1, 2]) func malformedNodesAreRefused(fault: Int) throws {
    let first = [UInt8](repeating: 1, count: 48)
    let second = [UInt8](repeating: 2, count: 48)
    let bodies = [second + first, first + first, Array((first + second).dropLast())]
    let node = Node(prefix: [], isLeaf: true, unchecked: bodies[fault])
    #expect(code { try node.checkOrder() } == .nodeMalformed)
    #expect(code { try Node(prefix: [2], isLeaf: true, unchecked: first).checkOrder() } == .nodeMalformed)
    try Node(prefix: [1], isLeaf: true, unchecked: first).checkOrder()
  }
}

extension ProvenTree {
  /// The number of entries of each leaf node.
  fileprivate func leafCounts() throws -> [[UInt8]: Int] {
    var counts: [[UInt8]: Int] = [:]
    var entries = Entries(self, 0x00...0xFF)
    while let (id, _) = try entries.next({ if let error = $1 { throw error } }) { counts[id.prefix(depth), default: 0] += 1 }
    return counts
  }
}
