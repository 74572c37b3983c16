internal import SecretMemory

/// Random numbers of which each is as likely as any other, from the kernel's generator. The bytes are in locked memory.
struct UniformNumbers: ~Copyable {
  private var bytes: Secret
  private var used: Int

  private static let byteCount = 256

  /// - Throws: as `Secret(count:)`.
  init() throws(VaultError) {
    bytes = try Secret.random(count: Self.byteCount)
    used = 0
  }

  /// A number from 0 to `bound` - 1. The bits that hold `bound` - 1 are drawn until they are below it: a remainder would favour the
  /// small numbers.
  mutating func next(below bound: Int) throws(VaultError) -> Int {
    precondition(bound > 0 && bound <= 1 << 16)
    let mask = bound == 1 ? 0 : (1 << (Int.bitWidth - (bound - 1).leadingZeroBitCount)) - 1
    while true {
      let number = try nextPair() & mask
      if number < bound { return number }
    }
  }

  private mutating func nextPair() throws(VaultError) -> Int {
    if used + 2 > bytes.count {
      bytes = try Secret.random(count: Self.byteCount)
      used = 0
    }
    defer { used += 2 }
    return Int(bytes.byte(at: used)) << 8 | Int(bytes.byte(at: used + 1))
  }
}
