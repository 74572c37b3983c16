import SecretMemory

/// The integrity tree of one transaction: reads nodes from the untrusted store and proves each from the header's root downwards.
/// Section 9.4 of FORMAT.md.
package struct ProvenTree {
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
  package func leaf(_ id: Identifier) throws -> Digest? {
    try leafNode(over: id)?.digest(of: id.bytes)
  }

  /// The only leaf node that can list the identifier. Returns nil if it does not exist.
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

  /// The child for the next byte of the prefix. Returns nil if `parent` lists none.
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

  /// The leaf entries whose identifiers have such a first byte, in ascending order. Memory is bounded by a node of each level.
  struct Entries {
    private let tree: ProvenTree
    private let firstBytes: ClosedRange<UInt8>
    private var way: [(node: Node, next: Int)] = []
    private var isAtStart = true

    init(_ tree: ProvenTree, _ firstBytes: ClosedRange<UInt8>) { (self.tree, self.firstBytes) = (tree, firstBytes) }

    /// - Parameter visit: Called for each node, the root too, with its error, if any. The nodes below a faulty node are skipped
    ///   if that returns.
    mutating func next(_ visit: ([UInt8], VaultError?) throws -> Void) throws -> (id: Identifier, leaf: Digest)? {
      if isAtStart { try enter([], tree.root, visit) }
      while let (node, index) = way.last {
        guard index < node.count else {
          way.removeLast()
          continue
        }
        way[way.count - 1].next += 1
        let key = node.key(at: index)
        guard !node.prefix.isEmpty || firstBytes.contains(key[key.startIndex]) else { continue }
        if node.prefix.count == tree.depth { return (node.identifier(at: index), node.digest(at: index)) }
        try enter(node.prefix + key, node.digest(at: index), visit)
      }
      return nil
    }

    private mutating func enter(_ prefix: [UInt8], _ digest: Digest, _ visit: ([UInt8], VaultError?) throws -> Void) throws {
      isAtStart = false
      let node: Node
      do {
        node = try tree.node(prefix, expecting: digest)
      } catch let error as VaultError {
        return try visit(prefix, error)
      }
      try visit(prefix, nil)
      way.append((node, 0))
    }
  }
}
