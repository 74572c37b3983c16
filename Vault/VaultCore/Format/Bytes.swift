import SecretMemory

extension [UInt8] {
  /// Appends the integer's bytes, the lowest first.
  mutating func append(littleEndian value: some FixedWidthInteger) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  mutating func append(_ identifier: Identifier) {
    for offset in 0..<Identifier.byteCount { append(identifier.byte(at: offset)) }
  }
}

/// Reads a byte string from front to back. Whatever is not there is the error that the reader was made with; nothing traps.
/// Section 1 of FORMAT.md.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private var position: Int
  private let code: VaultError.Code

  init(_ bytes: [UInt8], orThrow code: VaultError.Code) { self.init(bytes[...], orThrow: code) }

  init(_ bytes: ArraySlice<UInt8>, orThrow code: VaultError.Code) {
    self.bytes = bytes
    position = bytes.startIndex
    self.code = code
  }

  var remaining: Int { bytes.endIndex - position }

  mutating func read(_ count: Int) throws(VaultError) -> ArraySlice<UInt8> {
    guard count >= 0 && count <= remaining else { throw VaultError(code, "ends early") }
    defer { position += count }
    return bytes[position..<position + count]
  }

  mutating func readInteger<Value: FixedWidthInteger>(_: Value.Type = Value.self) throws(VaultError) -> Value {
    let count = Value.bitWidth / 8
    guard count <= remaining else { throw VaultError(code, "ends early") }
    defer { position += count }
    var value: Value = 0
    for offset in 0..<count {
      value |= Value(truncatingIfNeeded: bytes[position + offset]) << Value(8 * offset)
    }
    return value
  }

  mutating func readIdentifier() throws(VaultError) -> Identifier {
    guard let identifier = Identifier(try read(Identifier.byteCount)) else { throw VaultError(code) }
    return identifier
  }

  mutating func readDigest() throws(VaultError) -> Digest { Digest(unchecked: [UInt8](try read(Digest.byteCount))) }

  /// `count` bytes that must be zero.
  mutating func readZeros(_ count: Int) throws(VaultError) {
    guard try read(count).allSatisfy({ $0 == 0 }) else { throw VaultError(code, "a reserved byte is not zero") }
  }

  func readEnd() throws(VaultError) {
    guard remaining == 0 else { throw VaultError(code, "\(remaining) bytes too many") }
  }
}
