internal import KeyedHashes
internal import ProgramSecrets
package import SecretMemory
internal import TextEncodings

/// The export of Bitwarden that has a password of its own. One that is encrypted for an account can only be read by that account.
package enum BitwardenEncryption {
  /// More than Bitwarden lets a person choose would be a file that keeps the machine busy.
  private enum Limit {
    static let rounds = 1...10_000_000
    static let passes = 1...10
    static let mebibytes = 1...1024
    static let lanes = 1...16
  }

  /// Whether a password opens the export.
  /// - Throws: as `JSONText`.
  package static func isProtected(_ text: SourceText) throws -> Bool {
    let document = try JSONText(of: text)
    return document["encrypted"]?.isTrue == true && document["passwordProtected"]?.isTrue == true
  }

  /// - Throws: `passwordWrong`; `encryptionUnknown`, for another kind of derivation or encryption; `costTooHigh`, `noMemory`, `otherShape`,
  ///   `base64Malformed`, `damaged`; as `SourceText`.
  package static func decrypted(_ text: SourceText, _ password: borrowing Secret) throws -> SourceText {
    let document = try JSONText(of: text)
    guard let proof = try message("encKeyValidation_DO_NOT_EDIT", document, text), let data = try message("data", document, text)
    else { throw ForeignError(.otherShape, line: document.line) }
    let key = try key(document, text, password)
    let encryption = try expanded(key, "enc")
    let authentication = try expanded(key, "mac")
    guard try proof.isAuthentic(authentication) else { throw ForeignError(.passwordWrong, line: document.line) }
    guard try data.isAuthentic(authentication), var content = try CBCMessage(data.bytes, vector: data.vector, key: encryption)
    else { throw ForeignError(.damaged, line: document.line) }
    return try unsafe SourceText { buffer in
      guard let count = unsafe content.read(into: buffer) else { throw ForeignError(.damaged, line: document.line) }
      return count
    }
  }

  private static func key(_ document: JSONText, _ text: SourceText, _ password: borrowing Secret) throws -> Secret {
    func number(_ name: String, _ limit: ClosedRange<Int>) throws -> UInt32 {
      guard let member = document[name], member.isNumber, let number = Int(text.text(member.range.prefix(20))) else {
        throw ForeignError(.otherShape, line: document.line, name)
      }
      guard limit.contains(number) else { throw ForeignError(.costTooHigh, line: member.line, name) }
      return UInt32(number)
    }
    guard let member = document["salt"], let salt = try member.text(in: text).map({ Array($0.utf8) }) else {
      throw ForeignError(.otherShape, line: document.line, "salt")
    }
    switch try number("kdfType", 0...Int(UInt32.max)) {
    case 0: return try PasswordKey.pbkdf2(password, salt: salt, iterations: number("kdfIterations", Limit.rounds))
    case 1:
      let hash = KeyedHash.digest(ofPublic: salt)
      guard
        let key = try PasswordKey.argon2id(
          password, salt: hash, iterations: number("kdfIterations", Limit.passes),
          kibibytes: number("kdfMemory", Limit.mebibytes) << 10, lanes: number("kdfParallelism", Limit.lanes))
      else { throw ForeignError(.noMemory, line: document.line) }
      return key
    default: throw ForeignError(.encryptionUnknown, line: document.line, "kdfType")
    }
  }

  /// HKDF-Expand (RFC 5869) of one block.
  private static func expanded(_ key: borrowing Secret, _ use: StaticString) throws -> Secret {
    try KeyedHash.sha256.code(of: Secret(copying: Array("\(use)\u{1}".utf8)), key: key)
  }

  // MARK: Messages

  private struct Message {
    let vector: [UInt8]
    let bytes: [UInt8]
    let code: [UInt8]

    func isAuthentic(_ key: borrowing Secret) throws -> Bool {
      try KeyedHash.sha256.code(ofPublic: vector + bytes, key: key).isEqual(to: Secret(copying: code))
    }
  }

  /// `2.VECTOR|BYTES|CODE`: AES-256-CBC and HMAC-SHA256. Nothing of it is secret.
  private static func message(_ name: String, _ document: JSONText, _ text: SourceText) throws -> Message? {
    guard let member = document[name], member.isString else { return nil }
    var words: [UInt8] = []
    member.forEachByte(of: text) { words.append($0) }
    guard words.starts(with: "2.".utf8) else { throw ForeignError(.encryptionUnknown, line: member.line, name) }
    let parts = words.dropFirst(2).split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false).map {
      Base64Text.decode($0)
    }
    guard parts.count == 3, let vector = parts[0], let bytes = parts[1], let code = parts[2] else {
      throw ForeignError(.base64Malformed, line: member.line, name)
    }
    return Message(vector: vector, bytes: bytes, code: code)
  }
}
