import CofferConsole
import KeyedHashes
import SecretMemory

/// A key and the keyed hash of a text: tells whether another text is the same, and nothing else about it.
struct ClipboardProof: ~Copyable {
  private static let keyCount = 32
  static let byteCount = keyCount + KeyedHash.sha256.byteCount

  /// The key, and the hash after it.
  let bytes: Secret

  /// - Throws: as `Secret(count:)`.
  init(of text: borrowing Secret) throws {
    let key = try Secret.random(count: Self.keyCount)
    var bytes = try key.duplicate().enlarged(to: Self.byteCount)
    bytes.write(try KeyedHash.sha256.code(of: text, key: key), at: Self.keyCount)
    self.bytes = bytes
  }

  /// - Throws: other: it is not complete.
  init(_ bytes: consuming Secret) throws {
    guard bytes.count == Self.byteCount else { throw Failure(.other, "standard input: not a key and a hash") }
    self.bytes = bytes
  }

  borrowing func isOf(_ text: borrowing Secret) throws -> Bool {
    let hash = try KeyedHash.sha256.code(of: text, key: bytes.copy(0, Self.keyCount))
    return try hash.isEqual(to: bytes.copy(Self.keyCount, hash.count))
  }
}
