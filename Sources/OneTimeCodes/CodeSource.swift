internal import KeyedHashes
package import SecretMemory

/// An `otpauth:` URI, from which the one-time codes of an account are made. It has the seed, so it is a secret as a whole.
package struct CodeSource: ~Copyable {
  /// As it was given, without blanks around it.
  package let uri: Secret
  package let parameters: CodeParameters
  private let seed: Secret
  /// The digits of the counter in the URI.
  private let counterPlace: Range<Int>?

  package static let longestURI = 4096
  package static let seedCounts = 1...1024

  /// - Throws: `CodeError`; as `Secret(count:)`.
  package init(_ text: borrowing Secret) throws {
    let query = try CodeQuery.read(text)
    var parameters = CodeParameters()
    var counterPlace: Range<Int>?
    if let name = query.algorithm {
      guard let algorithm = KeyedHash(codeAlgorithm: name) else { throw CodeError(.algorithmUnknown, name) }
      parameters.algorithm = algorithm
    }
    if let text = query.digits {
      guard let digits = Int(text), CodeParameters.digitCounts.contains(digits) else { throw CodeError(.digitsNotAllowed, text) }
      parameters.digits = digits
    }
    if query.isByCounter {
      guard let place = query.counter else { throw CodeError(.counterMissing) }
      guard let counter = UInt64(place.text) else { throw CodeError(.counterNotAllowed, place.text) }
      parameters.moment = .counter(counter)
      counterPlace = place.range
    } else if let text = query.period {
      guard let period = UInt64(text), CodeParameters.periods.contains(period) else { throw CodeError(.periodNotAllowed, text) }
      parameters.moment = .time(period: period)
    }
    let seed = try Base32.decode(query.seed)
    guard seed.count > 0 else { throw CodeError(.seedMissing) }
    guard seed.count <= Self.seedCounts.upperBound else { throw CodeError(.seedTooLong) }
    uri = try text.copy(query.range.lowerBound, query.range.count)
    (self.parameters, self.counterPlace) = (parameters, counterPlace)
    self.seed = seed
  }

  /// The URI of a seed in base32.
  /// - Parameter label: Is shown by other programs that get the URI: `SERVICE:ACCOUNT` in percent encoding.
  /// - Throws: `seedNotBase32`, `seedCutOff`, `seedMissing`, `seedTooLong`; as `Secret(count:)`.
  package static func uri(seed text: borrowing Secret, _ parameters: CodeParameters, label: String) throws -> Secret {
    guard try Base32.decode(text).count > 0 else { throw CodeError(.seedMissing) }
    // The letters without what people type between them.
    var letters = try Secret(count: text.count)
    var count = 0
    for offset in 0..<text.count {
      let byte = text.byte(at: offset)
      guard byte > 0x20, byte != UInt8(ascii: "-"), byte != UInt8(ascii: "=") else { continue }
      letters.write((UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & 0xDF : byte, at: count)
      count += 1
    }
    letters.truncate(to: count)
    let (kind, moment) =
      switch parameters.moment {
      case .time(let period): ("totp", "period=\(period)")
      case .counter(let counter): ("hotp", "counter=\(counter)")
      }
    let head = Array("otpauth://\(kind)/\(label)?secret=".utf8)
    let tail = Array("&algorithm=\(parameters.algorithm.rawValue.uppercased())&digits=\(parameters.digits)&\(moment)".utf8)
    var uri = try Secret(count: head.count + count + tail.count)
    uri.write(head, at: 0)
    uri.write(letters, at: head.count)
    uri.write(tail, at: head.count + count)
    return try CodeSource(uri).uri.duplicate()
  }

  // MARK: Codes

  /// The number from which a code is made.
  /// - Parameter later: How many codes after the one for now.
  /// - Throws: `counterAtItsEnd`.
  package func factor(at seconds: UInt64, later: UInt64 = 0) throws(CodeError) -> UInt64 {
    let first =
      switch parameters.moment {
      case .time(let period): seconds / period
      case .counter(let counter): counter
      }
    let (factor, isOver) = first.addingReportingOverflow(later)
    guard !isOver else { throw CodeError(.counterAtItsEnd) }
    return factor
  }

  /// How long the code for now is valid. nil for a code by a counter, which is valid until it is used.
  package func secondsLeft(at seconds: UInt64) -> UInt64? {
    guard case .time(let period) = parameters.moment else { return nil }
    return period - seconds % period
  }

  /// RFC 4226, section 5.3.
  /// - Throws: as `Secret(count:)`.
  package func code(_ factor: UInt64) throws(VaultError) -> Secret {
    var message = try Secret(count: 8)
    for index in 0..<8 { message.write(UInt8(truncatingIfNeeded: factor >> UInt64(56 - 8 * index)), at: index) }
    let hash = try parameters.algorithm.code(of: message, key: seed)
    let start = Int(hash.byte(at: hash.count - 1) & 0x0F)
    var number = UInt32(hash.byte(at: start) & 0x7F)
    for offset in 1..<4 { number = number << 8 | UInt32(hash.byte(at: start + offset)) }
    var code = try Secret(count: parameters.digits)
    for offset in (0..<parameters.digits).reversed() {
      code.write(UInt8(ascii: "0") + UInt8(number % 10), at: offset)
      number /= 10
    }
    return code
  }

  /// The URI with the next counter. nil for codes by time.
  /// - Throws: `counterAtItsEnd`; as `Secret(count:)`.
  package func advanced() throws -> Secret? {
    guard let place = counterPlace else { return nil }
    let digits = Array("\(try factor(at: 0, later: 1))".utf8)
    var next = try Secret(count: uri.count - place.count + digits.count)
    next.write(try uri.copy(0, place.lowerBound), at: 0)
    next.write(digits, at: place.lowerBound)
    next.write(try uri.copy(place.upperBound, uri.count - place.upperBound), at: place.lowerBound + digits.count)
    return next
  }
}
