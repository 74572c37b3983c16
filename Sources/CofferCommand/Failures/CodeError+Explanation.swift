package import CofferConsole
package import OneTimeCodes

extension CodeError: Explained {
  package var explanation: Explanation {
    switch code {
    case .tooLong: .init(.usage, "a URI for codes has at most 4,096 bytes")
    case .notCodeURI: .init(.usage, "is not a URI for codes", "otpauth://totp/… or otpauth://hotp/…")
    case .parameterTwice: .init(.usage, "a parameter stands twice")
    case .escapeMalformed: .init(.usage, "has a byte that no URI has", "%XX, with two digits of hexadecimal")
    case .algorithmUnknown: .init(.usage, "is not a hash for codes", "SHA1, SHA256 or SHA512")
    case .digitsNotAllowed: .init(.usage, "a code has 6 to 8 digits")
    case .periodNotAllowed: .init(.usage, "a code is valid for 1 to 300 seconds")
    case .counterNotAllowed: .init(.usage, "a counter is a number from 0 on")
    case .counterMissing: .init(.usage, "codes by a counter need one", "counter=0")
    case .encoderUnknown: .init(.usage, "codes of this alphabet cannot be made")
    case .seedMissing: .init(.usage, "has no key")
    case .seedNotBase32: .init(.usage, "the key is not base32", "the letters A to Z and the digits 2 to 7")
    case .seedCutOff: .init(.usage, "the key lacks letters at its end", "no key has 1, 3 or 6 letters beyond a multiple of 8")
    case .seedTooLong: .init(.usage, "the key has more than 1,024 bytes")
    case .counterAtItsEnd: .init(.other, "the counter has no next value", "a new key from the site")
    }
  }
}
