/// Why a message of a program that asks for a credential was refused. One code for each cause; never a part of a value.
package struct CredentialError: Error, Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    // Messages of git
    case zeroByte
    /// A line that is not `key=value`.
    case lineWithoutEquals
    /// The value of a key that names a place or a user.
    case valueNotText
    case expiryNotTime

    // Messages of docker
    case notJSON
    case memberUnknown
    case memberTwice
    /// The value of a member is not a string.
    case memberNotText
    case serverMissing
    case userMissing
    case serverUnknown

    // Answers
    /// A secret of several lines, or with a zero byte: no line can hold it.
    case secretNotLine
  }

  package let code: Code
  /// A key, or a place in the message.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    (self.code, self.detail) = (code, detail)
  }
}
