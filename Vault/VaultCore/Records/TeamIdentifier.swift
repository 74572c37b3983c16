public import SecretMemory

/// The name of a team: 32 letters of base32 (RFC 4648, lower case), which are BLAKE2b-160 of its public key.
///
/// A name of ten characters, as Apple gives them out, could be ground: here no authority gives names out, and another key with the same
/// name takes 2¹⁶⁰ tries.
public struct TeamIdentifier: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The length of an identifier, in characters.
  public static let characterCount = 32
  private static let digestByteCount = 20
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// The 32 letters.
  public let text: String

  public var description: String { text }

  /// - Throws: `teamMalformed`: another length, or a character that is not in `a`–`z`, `2`–`7`.
  public init(_ text: String) throws(VaultError) {
    guard text.utf8.count == Self.characterCount, text.utf8.allSatisfy(Self.alphabet.contains) else {
      throw VaultError(.teamMalformed, "32 letters a to z, 2 to 7")
    }
    self.text = text
  }

  /// - Parameter key: The public key, 32 bytes.
  package init(of key: [UInt8]) {
    let digest = Digest.hash(key, byteCount: Self.digestByteCount)
    var letters: [UInt8] = []
    // 160 bits are 32 letters of 5, without a rest.
    for index in 0..<Self.characterCount {
      let bit = index * 5
      let pair = UInt16(digest[bit / 8]) << 8 | (bit / 8 + 1 < digest.count ? UInt16(digest[bit / 8 + 1]) : 0)
      letters.append(Self.alphabet[Int(pair >> UInt16(11 - bit % 8)) & 31])
    }
    text = String(decoding: letters, as: UTF8.self)
  }

  public static func < (left: TeamIdentifier, right: TeamIdentifier) -> Bool { left.text.order(right.text) < 0 }
}
