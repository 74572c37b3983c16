package import CofferConsole
package import CredentialProtocols

extension CredentialError: Explained {
  package var explanation: Explanation {
    switch code {
    case .zeroByte: .init(.other, "the message holds a zero byte")
    case .lineWithoutEquals: .init(.other, "the message has a line without =", "each line is key=value: see coffer-credential(1)")
    case .valueNotText: .init(.other, "a value of the message is not UTF-8")
    case .expiryNotTime: .init(.other, "password_expiry_utc is not a number of seconds since 1970")
    case .secretNotLine:
      .init(.other, "the secret is not one line, and cannot be handed over", "coffer secret edit NAME shows it in an editor")
    }
  }
}
