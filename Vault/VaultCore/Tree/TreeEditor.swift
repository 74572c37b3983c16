import SecretMemory

/// The integrity tree while a change is put together: proven nodes, with the edits of one transaction on top. Digests are
/// computed once, at the end. Section 9.3 of FORMAT.md.
package struct TreeEditor {
  private let tree: ProvenTree
  package private(set) var depth: Int
  /// Nodes that were read for editing, or made. An empty one is deleted at the end.
  private var nodes: [[UInt8]: Node] = [:]
  /// Nodes as the store has them, proven once in this transaction.
  private var proven: [[UInt8]: Node] = [:]
  /// Nodes of an earlier, lower depth that have to go.
  private var dropped: Set<[UInt8]> = []
  package private(set) var recordCount: UInt64

  package init(_ tree: ProvenTree, recordCount: UInt64) {
    self.tree = tree
    depth = tree.depth
    self.recordCount = recordCount
  }

  /// Edits the tree of a header that is proven.
  package init(of header: Header, rows: any Rows, keys: IntegrityKeys) {
    self.init(ProvenTree(rows: rows, depth: header.depth, root: header.root, keys: keys), recordCount: header.recordCount)
  }

  /// For a vault that is being made: a root without entries.
  package init(empty rows: any Rows, keys: IntegrityKeys) {
    self.init(ProvenTree(rows: rows, depth: 0, root: .zero, keys: keys), recordCount: 0)
    nodes[[]] = Node(prefix: [], isLeaf: true)
  }

  /// The leaf digest as it is after the edits so far.
  package mutating func leaf(_ id: Identifier) throws -> Digest? {
    try (nodes[id.prefix(depth)] ?? provenNode(id.prefix(depth)))?.digest(of: id.bytes)
  }

  /// A node as it was before the edits. Returns nil if there was none. A tree that has grown has all its leaf nodes in memory.
  private mutating func provenNode(_ prefix: [UInt8]) throws -> Node? {
    guard depth == tree.depth else { return nil }
    if let node = proven[prefix] { return node }
    guard let byte = prefix.last else {
      guard tree.root != .zero else { return nil }
      proven[[]] = try tree.rootNode()
      return proven[[]]
    }
    guard let parent = try provenNode(prefix.dropLast()) else { return nil }
    proven[prefix] = try tree.child(byte, of: parent)
    return proven[prefix]
  }

  /// Adds, replaces or (nil) removes the leaf of a record.
  /// - Throws: `vaultFull`, and what proves wrong on the way.
  package mutating func set(_ id: Identifier, to digest: Digest?) throws {
    let prefix = id.prefix(depth)
    // Taken out, so that it is not copied, and looked up as seldom as can be: a new master key sets each row.
    var node = try nodes.removeValue(forKey: prefix) ?? provenNode(prefix) ?? Node(prefix: prefix, isLeaf: true)
    let before = node.count
    node.set(id.bytes, to: digest)
    var count = node.count
    nodes[prefix] = node
    // A header that counts fewer records than there are is a genuine writer's, but wrong.
    guard let total = UInt64(exactly: Int64(recordCount) + Int64(count - before)) else { throw VaultError(.countMismatch) }
    recordCount = total
    guard recordCount <= Header.maximumRecordCount else { throw VaultError(.vaultFull) }
    while depth < Header.maximumDepth, recordCount > Self.capacities[depth] || count > Node.growingEntryCount {
      try grow()
      count = nodes[id.prefix(depth)]?.count ?? 0
    }
    guard count <= Node.maximumEntryCount else { throw VaultError(.vaultFull) }
  }

  /// The most records that a tree of each depth is meant to hold.
  private static let capacities: [UInt64] = [256, 65_536, Header.maximumRecordCount]

  /// One level more: every leaf node becomes an inner one, its entries go to nodes below it.
  private mutating func grow() throws {
    var deeper: [[UInt8]: Node] = [:]
    func add(_ id: Identifier, _ digest: Digest) {
      let prefix = id.prefix(depth + 1)
      deeper[prefix, default: Node(prefix: prefix, isLeaf: true)].append(id, digest)
    }
    for node in nodes.values where node.prefix.count == depth {
      for index in 0..<node.count { add(node.identifier(at: index), node.digest(at: index)) }
    }
    // A former leaf node is replaced by an inner node, or removed.
    dropped.formUnion(nodes.keys)
    if depth == tree.depth && tree.root != .zero {
      var entries = ProvenTree.Entries(tree, 0x00...0xFF)
      while let (id, leaf) = try entries.next({
        dropped.insert($0)
        if let error = $1 { throw error }
      }) {
        if nodes[id.prefix(depth)] == nil { add(id, leaf) }
      }
    }
    nodes = deeper
    proven = [:]
    depth += 1
  }

  /// Computes the digests upwards and writes the nodes into the change.
  /// - Returns: the new root.
  package mutating func finish(into change: inout Change) throws -> Digest {
    for level in stride(from: depth, to: 0, by: -1) {
      for node in nodes.values where node.prefix.count == level {
        let parent: [UInt8] = node.prefix.dropLast()
        if nodes[parent] == nil { nodes[parent] = try provenNode(parent) ?? Node(prefix: parent, isLeaf: false) }
        nodes[parent]?.set([node.prefix[level - 1]], to: node.isEmpty ? nil : tree.keys.node(node, depth: depth))
      }
    }
    guard let root = nodes[[]] else { return tree.root }
    for prefix in dropped where nodes[prefix] == nil { change.nodes[prefix] = .some(nil) }
    for (prefix, node) in nodes {
      change.nodes[prefix] = node.isEmpty && !prefix.isEmpty ? .some(nil) : node.body
    }
    return tree.keys.node(root, depth: depth)
  }
}

extension Identifier {
  /// The first `count` bytes.
  package func prefix(_ count: Int) -> [UInt8] { (0..<count).map { byte(at: $0) } }
}
