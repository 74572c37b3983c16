package import SecretMemory

/// A message that git sends to a helper: lines `key=value` up to an empty line or the end. gitcredentials(7) describes the keys; a helper
/// ignores those that it does not have. The values stay in locked memory, and only those that are not secret leave it as text.
package struct GitMessage: ~Copyable {
  package enum Key: String, CaseIterable, Sendable {
    case scheme = "protocol"
    case host, path, username, password
    case passwordExpiry = "password_expiry_utc"
    case refreshToken = "oauth_refresh_token"
    case authenticationType = "authtype"
    case credential, ephemeral
    case capability = "capability[]"
  }

  private let bytes: Secret
  /// The last value of each key counts, as in git.
  private var values: [Key: Range<Int>] = [:]
  private var capabilities: Set<String> = []

  /// - Throws: `zeroByte`, `lineWithoutEquals`, `valueNotText`.
  package init(parsing message: consuming Secret) throws(CredentialError) {
    bytes = message
    guard !bytes.contains(0) else { throw CredentialError(.zeroByte) }
    var start = 0
    var number = 1
    while start < bytes.count {
      let end = bytes.offset(of: Self.lineFeed, from: start) ?? bytes.count
      guard end > start else { break }
      guard let equals = bytes.offset(of: UInt8(ascii: "="), from: start), equals < end else {
        throw CredentialError(.lineWithoutEquals, "line \(number)")
      }
      if let key = Key.allCases.first(where: { bytes.holds($0.rawValue, in: start..<equals) }) {
        try take(key, equals + 1..<end)
      }
      (start, number) = (end + 1, number + 1)
    }
  }

  private static let lineFeed = UInt8(ascii: "\n")

  private mutating func take(_ key: Key, _ range: Range<Int>) throws(CredentialError) {
    guard key == .capability else {
      values[key] = range
      return
    }
    // An empty value clears the list.
    if range.isEmpty { capabilities = [] } else { capabilities.insert(try text(range, key)) }
  }

  /// Whether a message is complete, although more might follow.
  /// - Parameter start: The bytes before it were looked at.
  package static func isComplete(_ bytes: RawSpan, from start: Int) -> Bool {
    func isLineFeed(_ offset: Int) -> Bool { unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == lineFeed }
    return (start..<bytes.byteCount).contains { isLineFeed($0) && ($0 == 0 || isLineFeed($0 - 1)) }
  }

  /// A value that is not secret. Nil if the key was not sent.
  /// - Throws: `valueNotText`.
  package borrowing func text(_ key: Key) throws(CredentialError) -> String? {
    guard let range = values[key] else { return nil }
    return try text(range, key)
  }

  private borrowing func text(_ range: Range<Int>, _ key: Key) throws(CredentialError) -> String {
    let text = bytes.withBytes { bytes in
      unsafe bytes.extracting(range).withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
    guard let text else { throw CredentialError(.valueNotText, key.rawValue) }
    return text
  }

  /// A value in locked memory. Nil if the key was not sent.
  /// - Throws: as `Secret(count:)`.
  package borrowing func secret(_ key: Key) throws(VaultError) -> Secret? {
    guard let range = values[key] else { return nil }
    return try bytes.copy(range.lowerBound, range.count)
  }

  /// Whether git understands answers with `authtype`, and sends it.
  package var understandsAuthenticationTypes: Bool { capabilities.contains(Self.authenticationTypes) }

  /// The name of the capability.
  package static let authenticationTypes = "authtype"

  /// git's own words for a truth value.
  /// - Throws: `valueNotText`.
  package borrowing func isEphemeral() throws(CredentialError) -> Bool {
    guard let value = try text(.ephemeral)?.lowercased() else { return false }
    return !["", "0", "false", "no", "off"].contains(value)
  }

  /// The end of the password, in seconds since 1970. Nil if none was sent.
  /// - Throws: `expiryNotTime`.
  package borrowing func passwordExpiry() throws(CredentialError) -> UInt64? {
    guard let text = try text(.passwordExpiry) else { return nil }
    guard let seconds = UInt64(text) else { throw CredentialError(.expiryNotTime) }
    return seconds
  }
}

extension Secret {
  borrowing func contains(_ byte: UInt8) -> Bool { offset(of: byte, from: 0) != nil }

  fileprivate borrowing func offset(of byte: UInt8, from start: Int) -> Int? {
    withBytes { bytes in
      (start..<bytes.byteCount).first { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == byte }
    }
  }

  borrowing func holds(_ text: String, in range: Range<Int>) -> Bool {
    let wanted = text.utf8
    guard wanted.count == range.count else { return false }
    return withBytes { bytes in
      zip(range, wanted).allSatisfy { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == $1 }
    }
  }
}
