/// Why a command ends without having done its work: one line for people, a hint what helps, and the exit status.
///
/// It never holds a secret, and what it quotes is escaped when it is printed.
package struct Failure: Error {
  package let status: ExitStatus
  /// `what: why`.
  package let message: String
  /// The command that helps, or another way out.
  package let hint: String?
  /// Lines that follow on standard error, such as the items among which to choose.
  package let details: [String]

  package init(_ status: ExitStatus, _ message: String, hint: String? = nil, details: [String] = []) {
    self.status = status
    self.message = message
    self.hint = hint
    self.details = details
  }

  package static func usage(_ message: String, hint: String? = nil) -> Failure {
    Failure(.usage, message, hint: hint)
  }

  /// The person who was asked has changed their mind.
  package static let cancelled = Failure(.cancelled, "cancelled: nothing has been changed")

  /// `coffer: what: why`, the details, and the hint.
  package var text: String {
    var lines = ["coffer: \(message.escapingControls())"]
    for detail in details { lines.append("  \(detail.escapingControls())") }
    if let hint { lines.append("hint: \(hint.escapingControls())") }
    return lines.joined(separator: "\n") + "\n"
  }
}
