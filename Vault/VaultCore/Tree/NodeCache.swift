/// Nodes that were proven once. A digest stands for one content under one key, so what it was proven for stays proven, whatever
/// the tree has become since and whatever lies in the file now. Nothing in it is secret.
package final class NodeCache {
  /// The limit for all bodies together, in bytes: room for every node of a vault of some 80,000 items.
  static let maximumByteCount = 4 << 20

  private var nodes: [[UInt8]: Node] = [:]
  private var byteCount = 0

  /// A node of this place in a tree of this depth: both are in the digest, as is the content.
  subscript(_ digest: Digest) -> Node? { nodes[digest.bytes] }

  func insert(_ node: Node, _ digest: Digest) {
    if byteCount + node.body.count > Self.maximumByteCount { (nodes, byteCount) = ([:], 0) }
    nodes[digest.bytes] = node
    byteCount += node.body.count
  }
}
