internal import SecretMemory

/// The parts of an `otpauth:` URI, as the Key Uri Format of Google Authenticator has them. Unknown parameters are skipped.
struct CodeQuery: ~Copyable {
  let isByCounter: Bool
  /// The URI without blanks around it.
  let range: Range<Int>
  /// In base32.
  private(set) var seed: Secret
  private(set) var algorithm: String?
  private(set) var digits: String?
  private(set) var period: String?
  /// Its place is relative to the begin of the URI.
  private(set) var counter: (text: String, range: Range<Int>)?

  private init(_ range: Range<Int>, isByCounter: Bool, seed: consuming Secret) {
    (self.range, self.isByCounter) = (range, isByCounter)
    self.seed = seed
  }

  /// - Throws: `tooLong`, `notCodeURI`, `parameterTwice`, `escapeMalformed`, `encoderUnknown`, `seedMissing`; as `Secret(count:)`.
  static func read(_ text: borrowing Secret) throws -> CodeQuery {
    var (start, end) = (0, text.count)
    while start < end, Self.isBlank(text.byte(at: start)) { start += 1 }
    while end > start, Self.isBlank(text.byte(at: end - 1)) { end -= 1 }
    let range = start..<end
    guard range.count <= CodeSource.longestURI else { throw CodeError(.tooLong, "\(range.count) bytes") }
    let isByCounter = Self.begins(text, range, with: "otpauth://hotp/")
    guard isByCounter || Self.begins(text, range, with: "otpauth://totp/") else { throw CodeError(.notCodeURI) }
    for offset in range where text.byte(at: offset) <= 0x20 || text.byte(at: offset) == 0x7F { throw CodeError(.escapeMalformed) }
    var query = try CodeQuery(range, isByCounter: isByCounter, seed: Secret(count: 0))
    let fragment = Self.first(UInt8(ascii: "#"), in: range, of: text) ?? range.upperBound
    guard let mark = Self.first(UInt8(ascii: "?"), in: start..<fragment, of: text) else { throw CodeError(.seedMissing) }
    var names: Set<String> = []
    var next = mark + 1
    while next < fragment {
      let end = Self.first(UInt8(ascii: "&"), in: next..<fragment, of: text) ?? fragment
      try query.take(text, next..<end, &names)
      next = end + 1
    }
    guard names.contains("secret") else { throw CodeError(.seedMissing) }
    return query
  }

  private mutating func take(_ text: borrowing Secret, _ parameter: Range<Int>, _ names: inout Set<String>) throws {
    // No name that counts is longer. A String of another one might hold a part of a seed.
    guard let equals = Self.first(UInt8(ascii: "="), in: parameter.prefix(10), of: text) else { return }
    let name = String(decoding: (parameter.lowerBound..<equals).map { text.byte(at: $0) }, as: UTF8.self).lowercased()
    guard ["secret", "algorithm", "digits", "period", "counter", "encoder"].contains(name) else { return }
    guard names.insert(name).inserted else { throw CodeError(.parameterTwice, name) }
    let place = equals + 1..<parameter.upperBound
    let value = try Self.decoded(text, place)
    guard name != "secret" else {
      seed = try value.duplicate()
      return
    }
    let word = String(decoding: (0..<value.count).map { value.byte(at: $0) }, as: UTF8.self)
    switch name {
    case "algorithm": algorithm = word
    case "digits": digits = word
    case "period": period = word
    case "counter": counter = (word, place.lowerBound - range.lowerBound..<place.upperBound - range.lowerBound)
    default: throw CodeError(.encoderUnknown, word)
    }
  }

  // MARK: Bytes

  private static func first(_ byte: UInt8, in range: Range<Int>, of text: borrowing Secret) -> Int? {
    for offset in range where text.byte(at: offset) == byte { return offset }
    return nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  /// Whether the URI begins with these bytes, in upper or lower case.
  private static func begins(_ text: borrowing Secret, _ range: Range<Int>, with begin: String) -> Bool {
    guard range.count >= begin.utf8.count else { return false }
    return zip(begin.utf8, range).allSatisfy { letter, offset in
      let byte = text.byte(at: offset)
      return letter == ((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
    }
  }

  /// Without percent encoding.
  private static func decoded(_ text: borrowing Secret, _ range: Range<Int>) throws -> Secret {
    var value = try Secret(count: range.count)
    var (offset, count) = (range.lowerBound, 0)
    while offset < range.upperBound {
      var byte = text.byte(at: offset)
      offset += 1
      if byte == UInt8(ascii: "%") {
        guard offset + 1 < range.upperBound, let high = digit(text.byte(at: offset)), let low = digit(text.byte(at: offset + 1))
        else {
          throw CodeError(.escapeMalformed)
        }
        byte = high << 4 | low
        offset += 2
      }
      value.write(byte, at: count)
      count += 1
    }
    value.truncate(to: count)
    return value
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): (byte | 0x20) - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
