/// A set of ASCII characters.
struct Alphabet: Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  private init(_ ranges: [ClosedRange<UInt8>], _ others: StaticString = "") {
    for range in ranges { for byte in range { insert(byte) } }
    for index in 0..<others.utf8CodeUnitCount { insert(others[index]) }
  }

  private mutating func insert(_ byte: UInt8) {
    if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
  }

  func contains(_ byte: UInt8) -> Bool {
    byte < 128 && (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 == 1
  }

  private static let digit = UInt8(ascii: "0")...UInt8(ascii: "9")
  private static let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
  private static let lower = UInt8(ascii: "a")...UInt8(ascii: "z")

  static let digits = Alphabet([digit])
  static let hex = Alphabet([digit, UInt8(ascii: "a")...UInt8(ascii: "f")])
  static let upperHex = Alphabet([digit, UInt8(ascii: "A")...UInt8(ascii: "F")])
  static let anyHex = Alphabet([digit, UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F")])
  static let letters = Alphabet([lower, upper])
  static let upperAlphanumeric = Alphabet([digit, upper])
  static let alphanumeric = Alphabet([digit, upper, lower])
  /// Letters, digits and `_`.
  static let word = Alphabet([digit, upper, lower], "_")
  /// Upper-case letters, digits and `_`.
  static let environmentName = Alphabet([digit, upper], "_")
  /// RFC 4648 with `-` and `_`, without padding.
  static let base64URL = Alphabet([digit, upper, lower], "-_")
  static let azureSecret = Alphabet([digit, upper, lower], "_~.-")
  static let percentEncoded = Alphabet([digit, upper, lower], "%")
  static let hexAndDash = Alphabet([digit, UInt8(ascii: "a")...UInt8(ascii: "f")], "-")
  static let lowerAlphanumeric = Alphabet([digit, lower])
  /// RFC 4648 with `+` and `/`, and padding.
  static let base64 = Alphabet([digit, upper, lower], "+/=")
  /// RFC 4648.
  static let base32 = Alphabet([UInt8(ascii: "2")...UInt8(ascii: "7"), upper])
  /// BIP 173 in upper case: without 1, B, I and O.
  static let upperBech32 = Alphabet([], "023456789ACDEFGHJKLMNPQRSTUVWXYZ")
  static let lowerBech32 = Alphabet([], "023456789acdefghjklmnpqrstuvwxyz")
  /// base64url, and the dots between the parts of newer tokens.
  static let gitLab = Alphabet([digit, upper, lower], "-_.")
  static let host = Alphabet([digit, upper, lower], "-._")
  static let dateTime = Alphabet([digit], "-:.TZ+")
  /// The characters of a name in JSON, a connection string, or an environment file.
  static let nameInText = Alphabet([digit, upper, lower], "-_.")
  /// The characters of token68 in RFC 9110, and so of every kind of credential in a header.
  static let token68 = Alphabet([digit, upper, lower], "-._~+/=")
}
