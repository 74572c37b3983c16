internal import ProgramSecrets
internal import SecretMemory

/// A secret that is put together byte by byte, in locked memory.
struct SecretBuilder: ~Copyable {
  private var bytes: Secret
  private(set) var count = 0

  /// - Throws: as `Secret(count:)`.
  init() throws { bytes = try Secret(count: 64) }

  /// - Throws: `fieldTooLarge`; as `Secret(count:)`.
  mutating func append(_ byte: UInt8, line: Int) throws {
    guard count < SourceText.maximumFieldByteCount else { throw ForeignError(.fieldTooLarge, line: line) }
    if count == bytes.count {
      var larger = try Secret(count: count * 2)
      larger.write(bytes, at: 0)
      bytes = larger
    }
    bytes.write(byte, at: count)
    count += 1
  }

  consuming func finish() throws -> HeldSecret { HeldSecret(try bytes.copy(0, count)) }
}

extension HeldSecret {
  /// The text of a name.
  var text: String { secret.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } } }

  /// The parts before and behind the first `byte`. Returns nil if there is none.
  func divided(at byte: UInt8) throws -> (before: String, behind: HeldSecret)? {
    let mark = secret.withBytes { bytes in (0..<bytes.byteCount).first { bytes.byte(at: $0) == byte } }
    guard let mark else { return nil }
    let before = HeldSecret(try secret.copy(0, mark)).text
    return (before, HeldSecret(try secret.copy(mark + 1, secret.count - mark - 1)))
  }
}
