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
  /// For standard error, without a line end.
  package let text: String

  /// What `defaults` of macOS says, word for word; it may have several lines. What keys and files bring in cannot steer a terminal.
  package static func said(_ text: String) -> DefaultsFailure {
    DefaultsFailure(status: .failed, text: text.escapingControlsInLines())
  }

  /// `defaults: what: why` and perhaps a hint.
  package static func failed(_ message: String, hint: String? = nil) -> DefaultsFailure {
    DefaultsFailure(status: .failed, text: lines(message, hint))
  }

  package static func usage(_ message: String, hint: String = "defaults help") -> DefaultsFailure {
    DefaultsFailure(status: .usage, text: lines(message, hint))
  }

  private static func lines(_ message: String, _ hint: String?) -> String {
    "defaults: \(message.escapingControls())" + (hint.map { "\nhint: \($0.escapingControls())" } ?? "")
  }
}
