/// Why a text is not one from which codes can be made. One code for each cause.
package struct CodeError: Error, Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    // The URI
    case tooLong
    /// Neither `otpauth://totp/` nor `otpauth://hotp/` is its beginning.
    case notCodeURI
    case parameterTwice
    /// `%` without two digits behind it, or another byte that no URI has.
    case escapeMalformed
    case algorithmUnknown
    case digitsNotAllowed
    case periodNotAllowed
    case counterNotAllowed
    /// A code by a counter has to begin with one.
    case counterMissing
    /// Codes in another alphabet, such as Steam's.
    case encoderUnknown

    // The seed
    case seedMissing
    case seedNotBase32
    /// No bytes give so many letters.
    case seedCutOff
    case seedTooLong

    // Use
    /// The counter has no next value.
    case counterAtItsEnd
  }

  package let code: Code
  /// Never a part of a seed.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") { (self.code, self.detail) = (code, detail) }
}
