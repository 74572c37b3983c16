import CSodium
import SecretMemory

extension Sodium {
  /// More stack than a call takes that leaves something secret there, in bytes.
  static let stackByteCount = 2048

  /// For the end of a call that has copied keys: an optimised build, and the loader that binds a function at its first call, leave the
  /// content of vector registers on the stack, deeper than any one call of libsodium.
  @inline(never) package static func wipeStack() {
    // Overwrites the vector registers first: the loader would save them on the stack again, as libraries bind their functions later.
    // memmove(3) has registers of its own for each class of length (with AVX-512, ymm16 and up, which BLAKE2b does not use), so zeros
    // are copied in each class.
    let zeros = [UInt8](repeating: 0, count: 4096)
    var copy = zeros
    var count = 8
    while count <= zeros.count {
      Self.copy(zeros, count, to: &copy)
      count *= 2
    }
    // One block is enough for the registers of BLAKE2b.
    _ = Digest.hash([UInt8](copy.prefix(128)), byteCount: Digest.byteCount)
    sodium_stackzero(32 << 10)
  }

  /// Not inlined, so that the compiler does not know the length, and calls memmove(3).
  @inline(never) private static func copy(_ source: [UInt8], _ count: Int, to target: inout [UInt8]) {
    unsafe target.withUnsafeMutableBytes { target in
      unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }
}
