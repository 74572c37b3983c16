import CofferConsole
import Glibc
import ProgramSecrets
import SecretMemory
import VaultCore

extension AttributeValue {
  /// For people and for comparing.
  var text: String {
    switch self {
    case .text(let text): text
    case .integer(let number): "\(number)"
    case .time(let time): time.text
    case .data(let bytes):
      if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: \.isControl) {
        text
      } else {
        "hex:" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      }
    }
  }

  /// The text that `find` searches; bytes count if they are text.
  var searched: String? {
    switch self {
    case .text, .data: text
    case .integer, .time: nil
    }
  }

  /// Text, a number, or an object that says how bytes are encoded.
  func json() throws -> JSON {
    switch self {
    case .text(let text): return .text(text)
    case .integer(let number): return .natural(number)
    case .time(let time): return .text(time.text)
    case .data(let bytes):
      let encoded = try unsafe Base64.encode(Secret(copying: bytes.span.bytes)).copyIntoUnprotectedBytes()
      return .object([("encoding", .text("base64")), ("value", .text(String(decoding: encoded, as: UTF8.self)))])
    }
  }
}

extension Timestamp {
  static func now() -> Timestamp {
    Timestamp(secondsSince1970: Int64(Glibc.time(nil)))
  }

  /// ISO 8601 in UTC.
  var text: String {
    var seconds = time_t(secondsSince1970)
    var parts = unsafe tm()
    guard unsafe gmtime_r(&seconds, &parts) != nil else { return "\(secondsSince1970)" }
    func padded(_ number: some BinaryInteger, _ width: Int = 2) -> String {
      let digits = "\(number)"
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    // In 64 bits: the year of a forged time may be the largest that gmtime_r knows.
    let year = unsafe padded(Int(parts.tm_year) + 1900, 4)
    let day = unsafe [year, padded(parts.tm_mon + 1), padded(parts.tm_mday)].joined(separator: "-")
    let clock = unsafe [padded(parts.tm_hour), padded(parts.tm_min), padded(parts.tm_sec)].joined(separator: ":")
    return "\(day)T\(clock)Z"
  }
}
