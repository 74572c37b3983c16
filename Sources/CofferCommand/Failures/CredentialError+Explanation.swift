package import CofferConsole
package import CredentialProtocols

extension CredentialError: Explained {
  package var explanation: Explanation {
    switch code {
    case .zeroByte: .init(.other, "the message holds a zero byte")
    case .lineWithoutEquals: .init(.other, "the message has a line without =", "each line is key=value: see coffer-credential(1)")
    case .valueNotText: .init(.other, "a value of the message is not UTF-8")
    case .expiryNotTime: .init(.other, "password_expiry_utc is not a number of seconds since 1970")
    case .notJSON: .init(.other, "the message is not a JSON object of strings")
    case .memberUnknown: .init(.other, "the message has another member than ServerURL, Username and Secret")
    case .memberTwice: .init(.other, "the message has a member twice")
    case .memberNotText: .init(.other, "the value of a member is not a string")
    // Words that docker compares.
    case .serverMissing: .init(.other, "no credentials server URL")
    case .userMissing: .init(.other, "no credentials username")
    case .serverUnknown: .init(.other, "credentials not found in native keychain")
    case .secretNotLine:
      .init(.other, "the secret is not one line, and cannot be handed over", "coffer secret edit NAME shows it in an editor")
    }
  }
}
