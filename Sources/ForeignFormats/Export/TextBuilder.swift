package import ProgramSecrets
internal import SecretMemory

/// A text of any length that is put together in locked memory.
struct TextBuilder: ~Copyable {
  private static let pieceByteCount = 1 << 16

  private var full: [HeldSecret] = []
  private var piece: Secret
  private var used = 0

  /// - Throws: as `Secret(count:)`.
  init() throws { piece = try Secret(count: Self.pieceByteCount) }

  mutating func append(_ byte: UInt8) throws {
    if used == Self.pieceByteCount {
      full.append(HeldSecret(try piece.duplicate()))
      used = 0
    }
    piece.write(byte, at: used)
    used += 1
  }

  mutating func append(_ text: String) throws { for byte in text.utf8 { try append(byte) } }

  /// The text, in pieces.
  consuming func finish() throws -> [HeldSecret] { full + [HeldSecret(try piece.copy(0, used))] }
}

extension HeldSecret {
  /// A text that is not secret.
  package convenience init(text: String) throws { self.init(try Secret(copying: Array(text.utf8))) }

  /// Whether the bytes are UTF-8.
  var isText: Bool {
    secret.withBytes { bytes in
      var validity = UTF8Validity()
      return (0..<bytes.byteCount).allSatisfy { validity.take(bytes.byte(at: $0)) } && validity.isComplete
    }
  }

  func contains(_ text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard count >= length else { return false }
    return secret.withBytes { bytes in
      (0...bytes.byteCount - length).contains { start in
        (0..<length).allSatisfy { unsafe bytes.byte(at: start + $0) == text.utf8Start[$0] }
      }
    }
  }
}

extension SourceText {
  /// The text of the pieces.
  /// - Throws: as `init(fill:)`.
  package init(of pieces: [HeldSecret]) throws {
    var (index, offset) = (0, 0)
    try unsafe self.init { buffer in
      var filled = 0
      while filled < buffer.count, index < pieces.count {
        let piece = pieces[index]
        let length = min(buffer.count - filled, piece.count - offset)
        for place in 0..<length { unsafe buffer[filled + place] = piece[offset + place] }
        filled += length
        offset += length
        if offset == piece.count { (index, offset) = (index + 1, 0) }
      }
      return filled
    }
  }
}
