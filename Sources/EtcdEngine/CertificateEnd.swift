package import CofferFiles
import Glibc
import TextEncodings

extension EtcdCertificates {
  private static let limit = 1 << 20

  /// When the certificate of the user ends, in seconds since 1970: then etcd takes it no longer.
  /// - Returns: nil for a file of another form.
  /// - Throws: errors of the system.
  package func end() throws(FileError) -> Int64? {
    let file = try File<FileError>(certificate, O_RDONLY)
    return Self.end(ofPEM: try file.read(at: 0, count: Self.limit))
  }

  static func end(ofPEM bytes: [UInt8]) -> Int64? {
    let lines = bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    let body = lines.drop { !$0.elementsEqual("-----BEGIN CERTIFICATE-----".utf8) }.dropFirst()
      .prefix { !$0.starts(with: "-----".utf8) }
    return Base64Text.decode(Array(body.joined())).flatMap { end(ofDER: $0[...]) }
  }

  /// RFC 5280: the second time of the validity of a Certificate.
  private static func end(ofDER bytes: ArraySlice<UInt8>) -> Int64? {
    var reader = DERReader(rest: bytes)
    guard var certificate = reader.sequence(), var signed = certificate.sequence() else { return nil }
    // A version, the serial number, the algorithm, and the issuer.
    if signed.rest.first == 0xA0 { _ = signed.next() }
    for _ in 0..<3 { _ = signed.next() }
    guard var validity = signed.sequence(), validity.next() != nil, let end = validity.next() else { return nil }
    return seconds(end.tag, end.content)
  }

  /// UTCTime or GeneralizedTime, in the only form that certificates have: to the second, in UTC.
  private static func seconds(_ tag: UInt8, _ text: ArraySlice<UInt8>) -> Int64? {
    let yearCount = tag == 0x17 ? 2 : 4
    guard tag == 0x17 || tag == 0x18, text.count == yearCount + 11, text.last == UInt8(ascii: "Z"),
      text.dropLast().allSatisfy({ (48...57).contains($0) })
    else { return nil }
    var rest = text
    func number(_ count: Int) -> Int32 {
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count).reduce(0) { 10 * $0 + Int32($1 - 48) }
    }
    let year = number(yearCount)
    var parts = unsafe tm()
    unsafe parts.tm_year = yearCount == 4 ? year - 1900 : year < 50 ? year + 100 : year
    unsafe parts.tm_mon = number(2) - 1
    unsafe parts.tm_mday = number(2)
    unsafe parts.tm_hour = number(2)
    unsafe parts.tm_min = number(2)
    unsafe parts.tm_sec = number(2)
    return Int64(unsafe timegm(&parts))
  }
}

/// Elements of DER, one after the other.
private struct DERReader {
  var rest: ArraySlice<UInt8>

  /// - Returns: nil at the end, and for another form.
  mutating func next() -> (tag: UInt8, content: ArraySlice<UInt8>)? {
    guard rest.count >= 2 else { return nil }
    let tag = rest.removeFirst()
    var count = Int(rest.removeFirst())
    if count >= 0x80 {
      let lengthCount = count & 0x7F
      guard (1...4).contains(lengthCount), rest.count >= lengthCount else { return nil }
      count = rest.prefix(lengthCount).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(lengthCount)
    }
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return (tag, rest.prefix(count))
  }

  mutating func sequence() -> DERReader? {
    guard let (tag, content) = next(), tag == 0x30 else { return nil }
    return DERReader(rest: content)
  }
}
