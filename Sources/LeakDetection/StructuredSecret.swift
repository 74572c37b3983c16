/// Texts that contain a secret according to their structure.
enum StructuredSecret {
  private static let longestAuthority = 4096

  /// `scheme://user:password@host`, RFC 3986 section 3.2.1.
  static func isURLWithPassword(_ text: borrowing Span<UInt8>) -> Bool {
    var from = 0
    while let mark = text.position(of: "://", from: from) {
      from = mark + 3
      guard mark > 0, Alphabet.alphanumeric.contains(text[mark - 1]) else { continue }
      var colon: Int?
      var at: Int?
      var position = from
      while position < text.count, position - from <= longestAuthority, !endsAuthority(text[position]) {
        if text[position] == UInt8(ascii: ":"), colon == nil { colon = position }
        if text[position] == UInt8(ascii: "@") { at = position }
        position += 1
      }
      guard let colon, let at, colon + 1 < at else { continue }
      if !Placeholder.isBlank(text.extracting(colon + 1..<at)) { return true }
    }
    return false
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte.isSpace
      || [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "<")].contains(byte)
  }

  /// `-----BEGIN … PRIVATE KEY-----` of RFC 7468, OpenSSH and OpenPGP, followed by a body.
  static func isPEMPrivateKey(_ text: borrowing Span<UInt8>) -> Bool {
    var from = 0
    while let start = text.position(of: "-----BEGIN ", from: from) {
      from = start + 11
      guard let end = text.position(of: "-----", from: from, limit: 40) else { continue }
      let label = text.extracting(from..<end)
      guard label.position(of: "PRIVATE KEY") != nil else { continue }
      // A heading without a body is the placeholder of a form. Line ends may be escaped, as in JSON.
      let body = text.extracting(end + 5..<text.count)
      var count = 0
      for index in 0..<body.count where Alphabet.base64.contains(body[index]) {
        count += 1
        if count >= 40 { return true }
      }
    }
    return false
  }

  /// The file format of PuTTY, versions 2 and 3.
  static func isPuTTYPrivateKey(_ text: borrowing Span<UInt8>) -> Bool {
    guard text.holds("PuTTY-User-Key-File-", at: 0) else { return false }
    return text.position(of: "Private-Lines:") != nil
  }

  /// `machine HOST login NAME password SECRET`, as ftp(1) and curl(1) read it.
  static func isNetrc(_ text: borrowing Span<UInt8>) -> Bool {
    var words = Words()
    var expectsPassword = false
    while let word = words.next(in: text) {
      if expectsPassword {
        return !Placeholder.matches(text.extracting(word))
      }
      let isFirst = word.lowerBound == 0 || text[word.lowerBound - 1] == 0x0A
      if isFirst, text.isWord("machine", word) {
        guard words.next(in: text) != nil, let login = words.next(in: text), text.isWord("login", login),
          words.next(in: text) != nil, let password = words.next(in: text), text.isWord("password", password)
        else { continue }
        expectsPassword = true
      }
    }
    return false
  }

  /// `Bearer TOKEN` (RFC 6750) and `Basic BASE64` (RFC 7617), as a header or its value; after the header's name any other scheme.
  static func isAuthorization(_ text: borrowing Span<UInt8>) -> Bool {
    var words = Words()
    var isHeader = false
    while let word = words.next(in: text) {
      defer { isHeader = text.isWord("authorization:", word, ignoringCase: true) }
      let isBearer =
        isHeader || text.isWord("bearer", word, ignoringCase: true) || text.isWord("token", word, ignoringCase: true)
      let isBasic = text.isWord("basic", word, ignoringCase: true)
      guard isBearer || isBasic, let next = words.next(in: text) else { continue }
      let credential = text.extracting(next)
      guard credential.end(of: .token68, from: 0) == credential.count else { continue }
      if isBearer, !isBasic, credential.count >= 16, Randomness.looksRandom(credential) { return true }
      if isBasic, isUserAndPassword(credential) { return true }
    }
    return false
  }

  /// Whether decoding the base64 gives printable text with a colon in it.
  private static func isUserAndPassword(_ base64: borrowing Span<UInt8>) -> Bool {
    var bits: UInt32 = 0
    var bitCount = 0
    var hasColon = false
    var byteCount = 0
    for index in 0..<base64.count {
      guard base64[index] != UInt8(ascii: "=") else { break }
      guard let value = sextet(base64[index]) else { return false }
      bits = bits << 6 | UInt32(value)
      bitCount += 6
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      let byte = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
      guard byte >= 0x20, byte != 0x7F else { return false }
      if byte == UInt8(ascii: ":") { hasColon = true }
      byteCount += 1
    }
    return hasColon && byteCount >= 3
  }

  private static func sextet(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }

  /// `otpauth://…?secret=…`, the key URI of authenticator programs.
  static func isOneTimePasswordURI(_ text: borrowing Span<UInt8>) -> Bool {
    guard let start = text.position(of: "otpauth://"), let secret = text.position(of: "secret=", from: start) else {
      return false
    }
    return text.end(of: .base32, from: secret + 7) - (secret + 7) >= 8
  }
}

/// The words of a text, between spaces and line ends.
struct Words {
  private var position = 0

  mutating func next(in text: borrowing Span<UInt8>) -> Range<Int>? {
    while position < text.count, text[position].isSpace { position += 1 }
    let start = position
    while position < text.count, !text[position].isSpace { position += 1 }
    return start == position ? nil : start..<position
  }
}

extension Span<UInt8> {
  func isWord(_ literal: StaticString, _ range: Range<Int>, ignoringCase: Bool = false) -> Bool {
    guard range.count == literal.utf8CodeUnitCount else { return false }
    return ignoringCase ? holdsIgnoringCase(literal, at: range.lowerBound) : holds(literal, at: range.lowerBound)
  }
}
