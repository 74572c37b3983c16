/// Why a pinentry has brought no answer, or which one that is no yes.
package struct PinentryError: Error, Equatable, Sendable {
  package struct Code: Hashable, Sendable {
    package let name: String
    private init(_ name: String) { self.name = name }

    /// None is installed where it is looked for.
    package static let noProgram = Self("noProgram")
    /// Neither a display nor a terminal is known.
    package static let noSeat = Self("noSeat")
    package static let notStarted = Self("notStarted")
    /// It took longer to react than it may.
    package static let silent = Self("silent")
    package static let ended = Self("ended")
    /// Longer than a line of this protocol.
    package static let lineTooLong = Self("lineTooLong")
    /// More lines, or more of a passphrase, than an answer has.
    package static let tooMuch = Self("tooMuch")
    package static let malformed = Self("malformed")
    /// It said that something went wrong; the detail has its number.
    package static let failed = Self("failed")
    /// The person did not want to.
    package static let cancelled = Self("cancelled")
    /// Nobody answered in time.
    package static let timedOut = Self("timedOut")
    /// Whoever asked has gone.
    package static let withdrawn = Self("withdrawn")
  }

  package let code: Code
  /// For people, and never a part of what was typed. Not compared.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  package static func == (left: PinentryError, right: PinentryError) -> Bool { left.code == right.code }
}
