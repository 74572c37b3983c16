import CSodium
public import SecretMemory

/// BLAKE2b-256 of a file, piece by piece: what a manifest says of an executable, and a log of its entries.
@safe public struct ContentDigest: ~Copyable {
  /// The length of a digest, in bytes.
  public static let byteCount = Digest.byteCount
  /// The alignment of `crypto_generichash_state`; Swift imports the structure with a smaller one.
  private static let alignment = 64

  private let memory: UnsafeMutableRawPointer

  /// The digest of no bytes yet.
  /// - Throws: `randomNotAvailable`, if libsodium does not start.
  public init() throws(VaultError) {
    try Sodium.start()
    unsafe memory = .allocate(byteCount: crypto_generichash_statebytes(), alignment: Self.alignment)
    let status = unsafe crypto_generichash_init(OpaquePointer(memory), nil, 0, Self.byteCount)
    precondition(status == 0, "only a wrong length makes it fail")
  }

  deinit { unsafe memory.deallocate() }

  /// Adds bytes to the digest.
  public mutating func update(_ bytes: [UInt8]) {
    unsafe crypto_generichash_update(OpaquePointer(memory), bytes, UInt64(bytes.count))
  }

  /// The digest of all bytes so far.
  public consuming func finish() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Self.byteCount)
    unsafe crypto_generichash_final(OpaquePointer(memory), &digest, digest.count)
    return digest
  }
}
