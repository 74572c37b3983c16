/// The integrity tree of one transaction: reads nodes from the untrusted store and proves each from the header's root downwards.
struct ProvenTree {
  let rows: any Rows
  let depth: Int
  let root: Digest
  let keys: IntegrityKeys
  /// Whether there is no record at all: only then may the root have no entry.
  var isEmpty = false
  /// Nodes that were proven before. Nil: all are read from the store.
  var known: NodeCache?

  /// The leaf digest of a record, or nil: then it is proven that no record has the identifier.
  /// - Throws: `nodeMissing`, `nodeMalformed`, `nodeForged`.
  func leaf(_ id: Identifier) throws -> Digest? {
    try leafNode(over: id)?.digest(of: id.bytes)
  }

  /// The leaf node that lists an identifier if anything does; nil where no such node exists.
  func leafNode(over id: Identifier) throws -> Node? {
    var node = try node([], known: root)
    for level in 0..<depth {
      guard let digest = node.digest(of: [id.byte(at: level)]) else { return nil }
      let child = try self.node(node.prefix + [id.byte(at: level)], known: digest)
      node = child
    }
    return node
  }

  private func node(_ prefix: [UInt8], known digest: Digest) throws -> Node {
    if let node = known?[digest] { return node }
    let node = try node(prefix, expecting: digest)
    known?.insert(node, digest)
    return node
  }

  func rootNode() throws -> Node {
    try node([], expecting: root)
  }

  /// The child for the next byte of the prefix; nil where `parent` lists none.
  func child(_ byte: UInt8, of parent: Node) throws -> Node? {
    guard let digest = parent.digest(of: [byte]) else { return nil }
    return try node(parent.prefix + [byte], expecting: digest)
  }

  func node(_ prefix: [UInt8], expecting digest: Digest) throws -> Node {
    guard let body = try rows.node(prefix) else { throw VaultError(.nodeMissing, "at depth \(prefix.count)") }
    let isLeaf = prefix.count == depth
    guard body.count <= (isLeaf ? Node.maximumByteCount : 256 * (1 + Digest.byteCount)) else {
      throw VaultError(.nodeMalformed, "\(body.count) bytes")
    }
    let node = Node(prefix: prefix, isLeaf: isLeaf, unchecked: body)
    guard keys.node(node, depth: depth) == digest else { throw VaultError(.nodeForged, "at depth \(prefix.count)") }
    try node.checkOrder()
    guard !node.isEmpty || (prefix.isEmpty && isEmpty) else { throw VaultError(.nodeMalformed, "an empty node") }
    return node
  }

  /// Every leaf node, in ascending order.
  func forEachLeafNode(_ body: (Node) throws -> Void) throws {
    try descend(rootNode(), body)
  }

  private func descend(_ node: Node, _ body: (Node) throws -> Void) throws {
    guard node.prefix.count < depth else { return try body(node) }
    for index in 0..<node.count {
      let prefix = node.prefix + node.key(at: index)
      try descend(self.node(prefix, expecting: node.digest(at: index)), body)
    }
  }

  /// The leaf entries whose identifiers have such a first byte, in ascending order. Memory is bounded by a node of each level.
  struct Entries {
    private let tree: ProvenTree
    private let firstBytes: ClosedRange<UInt8>
    private var way: [(node: Node, next: Int)]

    init(_ tree: ProvenTree, _ firstBytes: ClosedRange<UInt8>) throws {
      (self.tree, self.firstBytes, way) = (tree, firstBytes, [(try tree.rootNode(), 0)])
    }

    mutating func next() throws -> (id: Identifier, leaf: Digest)? {
      while let (node, index) = way.last {
        guard index < node.count else {
          way.removeLast()
          continue
        }
        way[way.count - 1].next += 1
        let key = node.key(at: index)
        guard !node.prefix.isEmpty || firstBytes.contains(key[key.startIndex]) else { continue }
        if node.prefix.count == tree.depth { return (node.identifier(at: index), node.digest(at: index)) }
        way.append((try tree.node(node.prefix + key, expecting: node.digest(at: index)), 0))
      }
      return nil
    }
  }
}
