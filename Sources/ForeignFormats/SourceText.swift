package import ProgramSecrets
package import SecretMemory

/// A file of another program, in locked memory. Its values leave it as secrets, and only names as text.
package struct SourceText: Sendable, TextBytes {
  package static let maximumByteCount = 64 << 20
  /// The largest value of an item.
  package static let maximumFieldByteCount = 1 << 20
  private static let pieceByteCount = 1 << 20

  private var pieces: [HeldSecret] = []
  package private(set) var count = 0

  /// - Parameter fill: Writes the next bytes, and returns how many; 0 at the end.
  /// - Throws: `fileTooLarge`, `zeroByte`, `notUTF8`, `utf16`; what `fill` throws; as `Secret(count:)`.
  package init(fill: (UnsafeMutableRawBufferPointer) throws -> Int) throws {
    var isComplete = false
    while !isComplete {
      let piece = try Secret(capacity: Self.pieceByteCount) { span in
        try unsafe span.withUnsafeMutableBytes { buffer in
          var filled = 0
          while filled < buffer.count {
            let got = try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if got == 0 { break }
            filled += got
          }
          return filled
        }
      }
      isComplete = piece.count < Self.pieceByteCount
      count += piece.count
      guard count <= Self.maximumByteCount else { throw ForeignError(.fileTooLarge, line: 1) }
      // A short file does not keep a whole piece of locked memory.
      pieces.append(HeldSecret(try isComplete ? piece.copy(0, piece.count) : piece.duplicate()))
    }
    try check()
  }

  /// - Throws: `zeroByte`, `notUTF8`, `utf16`; as `Secret(count:)`.
  package init(_ secret: borrowing Secret) throws {
    count = secret.count
    for start in stride(from: 0, to: count, by: Self.pieceByteCount) {
      pieces.append(HeldSecret(try secret.copy(start, min(Self.pieceByteCount, count - start))))
    }
    try check()
  }

  private func check() throws {
    // By the byte order mark, which Windows writes before each such text.
    guard count < 2 || [self[0], self[1]] != [0xFF, 0xFE] && [self[0], self[1]] != [0xFE, 0xFF] else {
      throw ForeignError(.utf16, line: 1)
    }
    var validity = UTF8Validity()
    var offset = 0
    for piece in pieces {
      let bad: (offset: Int, code: ForeignError.Code)? = piece.secret.withBytes { bytes in
        for index in 0..<bytes.byteCount {
          let byte = bytes.byte(at: index)
          guard byte != 0 else { return (offset + index, .zeroByte) }
          guard validity.take(byte) else { return (offset + index, .notUTF8) }
        }
        return nil
      }
      if let bad { throw ForeignError(bad.code, line: line(of: bad.offset)) }
      offset += piece.secret.count
    }
    guard validity.isComplete else { throw ForeignError(.notUTF8, line: line(of: count)) }
  }

  package subscript(offset: Int) -> UInt8 {
    pieces[offset / Self.pieceByteCount].secret.withBytes { $0.byte(at: offset % Self.pieceByteCount) }
  }

  /// From 1.
  package func line(of offset: Int) -> Int { 1 + lineEnds(in: 0..<min(offset, count)) }

  func lineEnds(in range: Range<Int>) -> Int { range.count { self[$0] == Self.lineFeed } }

  static let lineFeed = UInt8(ascii: "\n")
  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  // MARK: Parts

  /// Behind a byte order mark, which programs on Windows write.
  var start: Int { holds("\u{FEFF}", at: 0) ? 3 : 0 }

  /// The lines, without their ends.
  package func lines() -> [Range<Int>] {
    var lines: [Range<Int>] = []
    var start = 0
    while start < count {
      let end = offset(of: Self.lineFeed, in: start..<count) ?? count
      lines.append(start..<end)
      start = end + 1
    }
    return lines
  }

  package func offset(of byte: UInt8, in range: Range<Int>) -> Int? { range.first { self[$0] == byte } }

  package func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, Self.isBlank(self[start]) { start += 1 }
    while end > start, Self.isBlank(self[end - 1]) { end -= 1 }
    return start..<end
  }

  package func holds(_ text: StaticString, at offset: Int) -> Bool {
    let length = text.utf8CodeUnitCount
    guard offset >= 0, offset + length <= count else { return false }
    return (0..<length).allSatisfy { unsafe self[offset + $0] == text.utf8Start[$0] }
  }

  /// A part that is not secret.
  package func text(_ range: Range<Int>) -> String { String(decoding: range.map { self[$0] }, as: UTF8.self) }

  /// - Throws: `fieldTooLarge`; as `Secret(count:)`.
  package func secret(_ range: Range<Int>) throws -> HeldSecret {
    guard range.count <= Self.maximumFieldByteCount else {
      throw ForeignError(.fieldTooLarge, line: line(of: range.lowerBound))
    }
    var secret = try Secret(count: range.count)
    for (target, offset) in range.enumerated() { secret.write(self[offset], at: target) }
    return HeldSecret(secret)
  }
}

/// Whether bytes that come one after the other are UTF-8: RFC 3629, section 4.
struct UTF8Validity {
  private var missing = 0
  /// The values that the next byte of a character may have.
  private var allowed: ClosedRange<UInt8> = 0x80...0xBF

  var isComplete: Bool { missing == 0 }

  mutating func take(_ byte: UInt8) -> Bool {
    if missing > 0 {
      guard allowed.contains(byte) else { return false }
      missing -= 1
      allowed = 0x80...0xBF
      return true
    }
    switch byte {
    case 0..<0x80: return true
    case 0xC2...0xDF: missing = 1
    case 0xE0: (missing, allowed) = (2, 0xA0...0xBF)
    case 0xED: (missing, allowed) = (2, 0x80...0x9F)
    case 0xE1...0xEF: missing = 2
    case 0xF0: (missing, allowed) = (3, 0x90...0xBF)
    case 0xF4: (missing, allowed) = (3, 0x80...0x8F)
    case 0xF1...0xF3: missing = 3
    default: return false
    }
    return true
  }
}
