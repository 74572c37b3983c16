import CSodium

/// Bytes that must not leave locked memory: a passphrase, a key, the value of an item.
///
/// A secret has one owner, is wiped when the owner lets go of it, and can neither be copied, printed, hashed, encoded nor put
/// into an array: the compiler refuses. Its bytes are lent inside a closure.
///
/// Up to `Secret.maximumCount` bytes. Not thread-safe, but may be sent to another thread.
@safe public struct Secret: ~Copyable, @unchecked Sendable {
  /// 2 MiB: the largest item field with its padding, and room to encode it.
  public static let maximumCount = 2 << 20

  private let slot: Slot
  /// The number of bytes.
  public private(set) var count: Int

  /// `count` zero bytes.
  /// - Throws: `secretTooLarge`, `memoryNotLockable`, `outOfMemory`.
  public init(count: Int) throws(VaultError) {
    try Sodium.start()
    guard count <= Self.maximumCount else { throw VaultError(.secretTooLarge, "\(count) bytes") }
    slot = try SlabArena.shared.allocate(count)
    self.count = count
  }

  deinit {
    SlabArena.shared.free(slot)
  }

  /// Up to `capacity` bytes, written in place: `fill` returns how many it wrote. This is how read(2) gets bytes in.
  /// - Throws: as `init(count:)`, and what `fill` throws.
  public init(capacity: Int, filledBy fill: (inout MutableRawSpan) throws -> Int) throws {
    var secret = try Secret(count: capacity)
    let written = try secret.withMutableBytes { try fill(&$0) }
    secret.truncate(to: written)
    self = secret
  }

  /// A copy of bytes that are not secret yet, or were in unprotected memory already.
  /// - Throws: as `init(count:)`.
  public init(copying bytes: RawSpan) throws(VaultError) {
    let secret = try Secret(count: bytes.byteCount)
    unsafe bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { unsafe secret.slot.base.copyMemory(from: base, byteCount: source.count) }
    }
    self = secret
  }

  /// `count` bytes from the kernel's generator.
  /// - Throws: as `init(count:)`.
  public static func random(count: Int) throws(VaultError) -> Secret {
    let secret = try Secret(count: count)
    unsafe randombytes_buf(secret.slot.base, count)
    return secret
  }

  /// Another secret with the same bytes.
  /// - Throws: `memoryNotLockable`, `outOfMemory`.
  public borrowing func duplicate() throws(VaultError) -> Secret {
    let copy = try Secret(count: count)
    unsafe copy.slot.base.copyMemory(from: slot.base, byteCount: count)
    return copy
  }

  /// Lends the bytes for the length of the call.
  /// - Throws: The error of `body`.
  public borrowing func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(unsafe RawSpan(_unsafeStart: slot.base, byteCount: count))
  }

  /// Lends the bytes for writing.
  /// - Throws: The error of `body`.
  public mutating func withMutableBytes<Result: ~Copyable, Failure: Error>(
    _ body: (inout MutableRawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var span = unsafe MutableRawSpan(_unsafeStart: slot.base, byteCount: count)
    return try body(&span)
  }

  /// Keeps the first `count` bytes and wipes the others. More than there are is a programmer error.
  public mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= self.count)
    unsafe sodium_memzero(slot.base + count, self.count - count)
    self.count = count
  }

  /// Whether both hold the same bytes, in time that depends on the lengths alone.
  public borrowing func isEqual(to other: borrowing Secret) -> Bool {
    guard count == other.count else { return false }
    return unsafe sodium_memcmp(slot.base, other.slot.base, count) == 0
  }

  /// Copies the bytes out of locked memory, for interfaces that must return bytes. The caller is responsible for the copy.
  public borrowing func copyIntoUnprotectedBytes() -> [UInt8] {
    unsafe [UInt8](UnsafeRawBufferPointer(start: slot.base, count: count))
  }
}
