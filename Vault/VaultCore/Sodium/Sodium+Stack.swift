import CSodium
import SecretMemory

extension Sodium {
  /// More stack than a call takes that leaves something secret there, in bytes.
  static let stackByteCount = 2048

  /// For the end of what has copied keys about: an optimised build, and the loader that binds a function at its first call, leave what
  /// is in vector registers on the stack, deeper than any one call of libsodium.
  @inline(never) static func wipeStack() {
    // Overwrites the vector registers: the loader would save them on the stack again, as libraries bind their functions later.
    _ = Digest.hash([], byteCount: Digest.byteCount)
    sodium_stackzero(32 << 10)
  }
}
