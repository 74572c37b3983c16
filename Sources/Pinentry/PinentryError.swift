/// The reason why a pinentry gave no answer, or a negative one.
package struct PinentryError: Error, Equatable, Sendable {
  package struct Code: Hashable, Sendable {
    package let name: String
    private init(_ name: String) { self.name = name }

    /// No pinentry is installed in the searched directories.
    package static let noProgram = Self("noProgram")
    /// There is neither a display nor a terminal.
    package static let noDisplay = Self("noDisplay")
    package static let notStarted = Self("notStarted")
    /// The pinentry did not react in time.
    package static let silent = Self("silent")
    package static let ended = Self("ended")
    /// A line is longer than the protocol allows.
    package static let lineTooLong = Self("lineTooLong")
    /// More lines, or a longer passphrase, than an answer may have.
    package static let tooMuch = Self("tooMuch")
    package static let malformed = Self("malformed")
    /// The pinentry reported an error; the detail has its text.
    package static let failed = Self("failed")
    /// The person cancelled.
    package static let cancelled = Self("cancelled")
    /// The person did not answer in time.
    package static let timedOut = Self("timedOut")
    /// The asking process has closed its connection.
    package static let withdrawn = Self("withdrawn")
    /// The program that the question is about is not in the foreground of the terminal.
    package static let background = Self("background")
  }

  package let code: Code
  /// For people; never contains typed input. Not compared.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  /// A clause for messages.
  package var words: String { [Self.clauses[code] ?? code.name, detail].filter { !$0.isEmpty }.joined(separator: ": ") }

  private static let clauses: [Code: String] = [
    .noProgram: "no pinentry was found", .noDisplay: "no display and no terminal is known",
    .notStarted: "the pinentry cannot be started", .silent: "the pinentry does not react", .ended: "the pinentry has ended",
    .lineTooLong: "a line to or from the pinentry is too long", .tooMuch: "the pinentry sends too much",
    .malformed: "the pinentry does not keep to its protocol", .failed: "the pinentry has failed",
    .cancelled: "it was cancelled", .timedOut: "the question was not answered in time",
    .withdrawn: "the program that asked has gone",
    .background: "the program is not in the foreground of the terminal",
  ]

  package static func == (left: PinentryError, right: PinentryError) -> Bool { left.code == right.code }
}
