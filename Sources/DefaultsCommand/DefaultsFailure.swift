import CofferConsole

/// Why `defaults` has not done what it was asked for.
package struct DefaultsFailure: Error, Equatable, Sendable {
  /// The numbers are macOS', but for `trouble`.
  package enum Status: Int32, Sendable {
    case ok = 0
    /// Not found, of another type, not written; for `diff`, different.
    case failed = 1
    /// `diff` could not compare.
    case trouble = 2
    /// The arguments are not understood.
    case usage = 255
  }

  package var status: Status
  /// The domain or file that it is about; nil if the reason names it.
  private let subject: String?
  let reason: String
  let hint: String?
  /// Whether the reason is all that is printed.
  private let isOfMacOS: Bool

  private init(_ status: Status, _ subject: String?, _ reason: String, hint: String?, isOfMacOS: Bool = false) {
    self.status = status
    self.subject = subject
    self.reason = reason
    self.hint = hint
    self.isOfMacOS = isOfMacOS
  }

  /// For standard error, without a line end. Control characters from keys and files are escaped.
  package var text: String {
    guard !isOfMacOS else { return reason.escapingControlsInLines() }
    let message = subject.map { "\($0): \(reason)" } ?? reason
    return "defaults: \(message.escapingControls())" + (hint.map { "\nhint: \($0.escapingControls())" } ?? "")
  }

  /// A message of macOS's `defaults`, word for word; it may have several lines.
  package static func said(_ text: String) -> DefaultsFailure {
    DefaultsFailure(.failed, nil, text, hint: nil, isOfMacOS: true)
  }

  /// For a result that was printed and is a failure.
  static let silent = said("")

  /// `defaults: what: why` and perhaps a hint.
  package static func failed(_ message: String, about subject: String? = nil, hint: String? = nil) -> DefaultsFailure {
    DefaultsFailure(.failed, subject, message, hint: hint)
  }

  package static func usage(_ message: String, hint: String = "defaults help") -> DefaultsFailure {
    DefaultsFailure(.usage, nil, message, hint: hint)
  }
}
