/// Why a file of another program was refused. One code for each cause.
package struct ForeignError: Error, Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    // Any format
    case zeroByte
    case notUTF8
    case utf16
    case fileTooLarge
    case fieldTooLarge
    case cutOff
    /// A base64 value that cannot be decoded.
    case base64Malformed

    // JSON
    case notJSON
    case tooDeep
    /// JSON or XML of another form than the format has.
    case otherShape
    case memberTwice
    /// An escape for one half of a character.
    case halfCharacter

    // YAML and TOML
    /// A form that is not read here, perhaps one that other programs read.
    case notationUnknown

    // XML
    case notXML

    // Lines
    case assignmentMissing
    case sectionMissing
    case sectionOpen
    case credentialMalformed
    case percentMalformed
    case tokenUnknown
    case quoteOpen

    // Exports of other vaults
    case exportEncrypted
    /// Only the account can decrypt it.
    case accountEncrypted
    case encryptionUnknown
    case passwordWrong
    /// A key that takes longer, or more memory, than is allowed.
    case costTooHigh
    case noMemory
    /// Encrypted data that has been changed.
    case damaged
    case headerUnknown
    case columnCount
    /// A column that the caller has named.
    case columnMissing
    case textAfterQuote
  }

  package let code: Code
  /// From 1.
  package let line: Int
  /// A name in the file; never a part of a value.
  package let detail: String

  package init(_ code: Code, line: Int, _ detail: String = "") {
    (self.code, self.line, self.detail) = (code, line, detail)
  }
}
