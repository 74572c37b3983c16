internal import CredentialProtocols
internal import ProgramSecrets
internal import VaultCore

/// The file of `git credential-store`: a URL with user and password in each line.
package enum GitCredentialsFormat {
  /// - Throws: `credentialMalformed`, `percentMalformed`, `fieldTooLarge`.
  package static func items(of text: SourceText) throws -> ForeignItems {
    var result = ForeignItems()
    var seen: Set<[UInt8]> = []
    for (index, line) in text.lines().enumerated() {
      let line = text.trimmed(line)
      guard !line.isEmpty, text[line.lowerBound] != UInt8(ascii: "#") else { continue }
      let number = index + 1
      guard let mark = line.first(where: { text.holds("://", at: $0) }) else {
        throw ForeignError(.credentialMalformed, line: number)
      }
      let rest = mark + 3..<line.upperBound
      let end = text.offset(of: UInt8(ascii: "/"), in: rest) ?? line.upperBound
      guard let at = (rest.lowerBound..<end).last(where: { text[$0] == UInt8(ascii: "@") }) else {
        throw ForeignError(.credentialMalformed, line: number)
      }
      let host = try text.percentDecoded(at + 1..<end, line: number).text
      let path = try text.percentDecoded(end..<line.upperBound, line: number).text
      let place = GitPlace(scheme: text.text(line.lowerBound..<mark), host: host, path: path.isEmpty ? nil : path)
      guard let colon = text.offset(of: UInt8(ascii: ":"), in: rest.lowerBound..<at), colon + 1 < at else {
        result.lost.append(LostPart(line: number, what: place.description, .noSecret))
        continue
      }
      let user = try text.percentDecoded(rest.lowerBound..<colon, line: number).text
      let secret = try text.percentDecoded(colon + 1..<at, line: number)
      // git reads the first line that fits.
      let item = place.item(user: user, authenticationType: nil)
      guard seen.insert(item.encoded).inserted else {
        result.lost.append(LostPart(line: number, what: place.description, .otherKind))
        continue
      }
      result.items.append(ForeignItem(item, secret, line: number, value: colon + 1..<at))
    }
    return result
  }
}

extension SourceText {
  /// - Throws: `percentMalformed`, `fieldTooLarge`.
  func percentDecoded(_ range: Range<Int>, line: Int) throws -> HeldSecret {
    var result = try SecretBuilder()
    var offset = range.lowerBound
    while offset < range.upperBound {
      var byte = self[offset]
      if byte == UInt8(ascii: "%") {
        guard offset + 2 < range.upperBound, let high = Self.digit(self[offset + 1]), let low = Self.digit(self[offset + 2])
        else {
          throw ForeignError(.percentMalformed, line: line)
        }
        byte = high << 4 | low
        guard byte != 0 else { throw ForeignError(.zeroByte, line: line) }
        offset += 2
      }
      try result.append(byte, line: line)
      offset += 1
    }
    return try result.finish()
  }

  /// Returns nil for a byte that is no hexadecimal digit.
  static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
