import ProgramSecrets
import SecretMemory

/// The line as typed so far, in locked memory.
struct TypedLine: ~Copyable {
  private var secret: Secret
  private(set) var count = 0

  init() throws {
    secret = try Secret(count: 256)
  }

  /// - Throws: `secretTooLarge`.
  mutating func append(_ byte: UInt8) throws {
    if count == secret.count {
      guard count < Secret.longestValue else { throw VaultError(.secretTooLarge, "more than \(Secret.longestValue) bytes typed") }
      var larger = try Secret(count: count * 4)
      larger.write(secret, at: 0)
      secret = larger
    }
    let end = count
    secret.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: end, as: UInt8.self) }
    count += 1
  }

  /// Takes back a whole character: the bytes that continue one, and the one that begins it.
  mutating func removeLastCharacter() {
    guard count > 0 else { return }
    let typed = count
    count = secret.withBytes { bytes in
      var length = typed - 1
      while length > 0, bytes.byte(at: length) & 0xC0 == 0x80 { length -= 1 }
      return length
    }
    wipeRest()
  }

  mutating func removeAll() {
    count = 0
    wipeRest()
  }

  private mutating func wipeRest() {
    let start = count
    secret.withMutableBytes { span in
      unsafe span.withUnsafeMutableBytes { bytes in
        for index in start..<bytes.count { unsafe bytes[index] = 0 }
      }
    }
  }

  consuming func finish() -> Secret {
    secret.truncate(to: count)
    return secret
  }
}
