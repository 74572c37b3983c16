package import CofferConsole
package import ProgramSecrets

extension TextError: Explained {
  package var explanation: Explanation {
    switch code {
    case .placeholderOpen: .init(.usage, "a {{ with a reference has no }} in its line")
    case .referenceNotText: .init(.usage, "a reference is not UTF-8", Self.form)
    case .filterUnknown:
      .init(.usage, "unknown filter", "filters: " + SecretFilter.allCases.map(\.rawValue).joined(separator: ", "))
    case .assignmentMissing: .init(.usage, "NAME=value is needed", "a comment begins with #")
    case .nameNotAllowed: .init(.usage, "a name has letters, digits and _, and begins with no digit")
    case .quoteOpen: .init(.usage, "a quote is not closed", #"a quote within "…" has a backslash before it; '…' holds no '"#)
    case .escapeUnknown:
      .init(.usage, #"unknown escape in "…""#, #"escapes: \n \t \" \\ \$; '…' takes text as it is"#)
    case .textAfterQuote: .init(.usage, "text follows the closing quote", "a comment begins with #")
    case .zeroByte: .init(.usage, "holds a zero byte, which no variable can have")
    case .valueNotText:
      .init(.other, "the secret is not UTF-8, and is written as text here", "in a template, base64 takes any bytes")
    case .valueNotXML: .init(.other, "the secret has a control character that XML cannot hold", "base64 takes any bytes")
    case .valueTooLarge: .init(.other, "the secret is too large for a filter: the result has at most 2 MiB")
    case .valueHasZeroByte:
      .init(.other, "the secret has a zero byte, which no variable can hold", "--file NAME=REFERENCE takes any bytes")
    case .variableTooLong:
      .init(.other, "too long for a variable, which has at most 131,071 bytes", "--file NAME=REFERENCE takes any length")
    }
  }

  private static let form = "a reference is coffer://GROUP/SERVICE/ACCOUNT, with %XX for other characters"
}
