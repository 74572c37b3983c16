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
    /// It said that something went wrong; the detail has its words.
    package static let failed = Self("failed")
    /// The person did not want to.
    package static let cancelled = Self("cancelled")
    /// Nobody answered in time.
    package static let timedOut = Self("timedOut")
    /// Whoever asked has gone.
    package static let withdrawn = Self("withdrawn")
    /// The program that the question is about is not in the foreground of the terminal.
    package static let background = Self("background")
  }

  package let code: Code
  /// For people, and never a part of what was typed. Not compared.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  /// A clause for people.
  package var words: String { [Self.clauses[code] ?? code.name, detail].filter { !$0.isEmpty }.joined(separator: ": ") }

  private static let clauses: [Code: String] = [
    .noProgram: "there is no pinentry", .noSeat: "no display and no terminal is known",
    .notStarted: "the pinentry cannot be started", .silent: "the pinentry does not react", .ended: "the pinentry has ended",
    .lineTooLong: "a line to or from the pinentry is too long", .tooMuch: "the pinentry sends too much",
    .malformed: "the pinentry does not keep to its protocol", .failed: "the pinentry has failed",
    .cancelled: "it was cancelled", .timedOut: "nobody has answered in time", .withdrawn: "the program that asked has gone",
    .background: "the program is not in the foreground of the terminal",
  ]

  package static func == (left: PinentryError, right: PinentryError) -> Bool { left.code == right.code }
}
