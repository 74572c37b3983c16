import SecretMemory

/// A node of the integrity tree: sorted keys, a digest for each. At the lowest level the keys are record identifiers, above they
/// are the next byte of the prefix. The entries stay in the bytes that lie in the file; nothing is parsed into objects.
/// Section 9.2 of FORMAT.md.
struct Node {
  static let maximumEntryCount = 4096
  /// The size of a leaf node at which a writer deepens the tree. Identifiers of one kind share a first byte, so that a node can
  /// fill up long before the vault does.
  static let growingEntryCount = 2048
  /// The longest body, in bytes.
  static let maximumByteCount = maximumEntryCount * (Identifier.byteCount + Digest.byteCount)

  /// The first bytes of all identifiers below: as many as the node is deep.
  let prefix: [UInt8]
  /// 16 in a leaf node, 1 above.
  let keyByteCount: Int
  private(set) var body: [UInt8]

  private var entryByteCount: Int { keyByteCount + Digest.byteCount }
  var count: Int { body.count / entryByteCount }
  var isEmpty: Bool { body.isEmpty }

  /// - Parameter body: is still to be proven and checked.
  init(prefix: [UInt8], isLeaf: Bool, unchecked body: [UInt8] = []) {
    self.prefix = prefix
    keyByteCount = isLeaf ? Identifier.byteCount : 1
    self.body = body
  }

  /// - Throws: `nodeMalformed`: a wrong length, keys that are not strictly ascending, or a key outside the prefix.
  func checkOrder() throws(VaultError) {
    guard body.count % entryByteCount == 0 else { throw VaultError(.nodeMalformed, "\(body.count) bytes") }
    for index in 0..<count {
      guard index == 0 || isKey(at: index - 1, before: index), keyByteCount == 1 || isKeyUnderPrefix(at: index) else {
        throw VaultError(.nodeMalformed, "the keys are not in order")
      }
    }
  }

  // Byte by byte and in place: a slice for each key costs more than proving the node does.

  private func isKey(at left: Int, before right: Int) -> Bool {
    let (left, right) = (left * entryByteCount, right * entryByteCount)
    for offset in 0..<keyByteCount where body[left + offset] != body[right + offset] {
      return body[left + offset] < body[right + offset]
    }
    return false
  }

  private func isKeyUnderPrefix(at index: Int) -> Bool {
    prefix.indices.allSatisfy { body[index * entryByteCount + $0] == prefix[$0] }
  }

  /// Below zero where the key at `index` comes before `key`, zero where it is the same.
  private func order(at index: Int, _ key: [UInt8]) -> Int {
    for offset in 0..<keyByteCount where body[index * entryByteCount + offset] != key[offset] {
      return Int(body[index * entryByteCount + offset]) - Int(key[offset])
    }
    return 0
  }

  /// For a leaf node that is filled in ascending order.
  mutating func append(_ id: Identifier, _ digest: Digest) { body += id.bytes + digest.bytes }

  func key(at index: Int) -> ArraySlice<UInt8> {
    let start = index * entryByteCount
    return body[start..<start + keyByteCount]
  }

  func digest(at index: Int) -> Digest {
    let start = index * entryByteCount + keyByteCount
    return Digest(unchecked: Array(body[start..<start + Digest.byteCount]))
  }

  func identifier(at index: Int) -> Identifier { Identifier(key(at: index)) ?? .zero }

  /// Where the key is, or would be.
  private func search(_ key: [UInt8]) -> (index: Int, isFound: Bool) {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if order(at: middle, key) < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, low < count && order(at: low, key) == 0)
  }

  func digest(of key: [UInt8]) -> Digest? {
    precondition(key.count == keyByteCount)
    let place = search(key)
    return place.isFound ? digest(at: place.index) : nil
  }

  /// Adds, replaces or (nil) removes an entry.
  mutating func set(_ key: [UInt8], to digest: Digest?) {
    precondition(key.count == keyByteCount)
    let place = search(key)
    let start = place.index * entryByteCount
    body.replaceSubrange(start..<(place.isFound ? start + entryByteCount : start), with: digest.map { key + $0.bytes } ?? [])
  }
}
