internal import ProgramSecrets
internal import SecretMemory

/// The secret from which a program computes one-time codes, as the companion `otp` holds it.
enum OneTimeCode {
  static let field = "otp"

  static func isURI(_ secret: HeldSecret) -> Bool {
    let scheme = Array("otpauth://".utf8)
    return secret.count > scheme.count && scheme.indices.allSatisfy { secret[$0] == scheme[$0] }
  }

  /// A URL stays as it is, as does a text that is not base32. A bare secret becomes a URL.
  /// - Parameter parameters: Further ones, with an `&` before each.
  static func uri(of secret: HeldSecret, issuer: String, user: String, parameters: String = "") throws -> HeldSecret {
    guard let digits = try base32(secret) else { return secret }
    let label = [issuer, user].filter { !$0.isEmpty }.map(encoded).joined(separator: ":")
    let begin = Array("otpauth://totp/\(label)?secret=".utf8)
    let end = Array((issuer.isEmpty ? "" : "&issuer=\(encoded(issuer))").utf8) + Array(parameters.utf8)
    var uri = try Secret(count: begin.count + digits.count + end.count)
    for (offset, byte) in begin.enumerated() { uri.write(byte, at: offset) }
    uri.write(digits.secret, at: begin.count)
    for (offset, byte) in end.enumerated() { uri.write(byte, at: begin.count + digits.count + offset) }
    return HeldSecret(uri)
  }

  /// The digits without the blanks and dashes that programs show between them. Returns nil for another text.
  private static func base32(_ text: HeldSecret) throws -> HeldSecret? {
    var digits = try Secret(count: text.count)
    var count = 0
    for offset in 0..<text.count {
      switch text[offset] {
      case 0x20, UInt8(ascii: "-"), UInt8(ascii: "="): continue
      case let byte where (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte): digits.write(byte & 0xDF, at: count)
      case let byte where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (0x32...0x37).contains(byte):
        digits.write(byte, at: count)
      default: return nil
      }
      count += 1
    }
    guard count > 0 else { return nil }
    digits.truncate(to: count)
    return HeldSecret(digits)
  }

  private static func encoded(_ text: String) -> String {
    text.utf8.reduce(into: "") { result, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        result.append(Character(Unicode.Scalar(byte)))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
  }
}
