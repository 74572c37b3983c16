package import VaultCore

/// Asks a person through GnuPG's pinentry, which has the windows and the terminals. A process for each question.
package struct Pinentry: Sendable {
  /// What the person reads. Texts of others are made `visible` first.
  package struct Question: Sendable {
    package var title: String
    package var description: String
    package var prompt: String
    /// Why it is asked again.
    package var error: String?

    package init(title: String = "Coffer", description: String, prompt: String = "", error: String? = nil) {
      self.title = title
      self.description = description
      self.prompt = prompt
      self.error = error
    }
  }

  /// What can be answered.
  package struct Buttons: Sendable {
    package var first: String
    /// Nil where there is only one way to agree.
    package var second: String?
    /// Agrees, where which of the two is asked afterwards.
    package var either: String
    /// Leads from the first way to the second, where there are only two buttons at a time.
    package var more: String
    package var refusal: String

    package init(first: String, second: String?, either: String, more: String, refusal: String) {
      self.first = first
      self.second = second
      self.either = either
      self.more = more
      self.refusal = refusal
    }
  }

  package enum Choice: Equatable, Sendable {
    case first, second
    /// All else: an Escape and a closed window too.
    case refused
  }

  /// Those whose third button is known to be one: Escape, a closed window and the end of the time are never "not confirmed" there. Others may take that for the word of a no, or have two buttons only.
  private static let withThreeButtons: Set<String> = ["curses", "tty", "gtk2"]

  /// In milliseconds.
  struct Patience {
    /// How long the program may take to react to what needs no person.
    var reaction: Int64 = 10_000
    /// How much later than the person's time is over it may say so.
    var grace: Int64 = 3_000
  }

  var patience = Patience()
  private let program: PinentryProgram
  private let seat: Seat

  /// - Throws: `noSeat`.
  package init(_ program: PinentryProgram, at seat: Seat) throws(PinentryError) {
    guard seat.isKnown else { throw PinentryError(.noSeat) }
    self.program = program
    self.seat = seat
  }

  /// What is typed goes from the pinentry straight into locked memory.
  /// - Parameters:
  ///   - seconds: The person's time.
  ///   - withdrawal: A socket; when its other end has gone, the question is over. -1: there is none.
  /// - Throws: `PinentryError`; `VaultError` of locked memory.
  package func passphrase(_ question: Question, seconds: Int, withdrawal: Int32 = -1) throws -> Secret {
    let session = try PinentrySession(program, seat, question, seconds, patience, withdrawal)
    try session.require("SETPROMPT", question.prompt)
    return try session.typed()
  }

  /// - Throws: `PinentryError`: `timedOut`, `withdrawn`, … But not `cancelled`: that is an answer.
  package func choose(
    _ question: Question, _ buttons: Buttons, seconds: Int, withdrawal: Int32 = -1
  ) throws -> Choice {
    let session = try PinentrySession(program, seat, question, seconds, patience, withdrawal)
    guard let second = buttons.second else { return try confirm(session, buttons.first, nil, buttons.refusal) }
    guard try Self.withThreeButtons.contains(session.flavour()) else {
      return try chooseByTwoButtons(session, buttons, second)
    }
    return try confirm(session, buttons.first, second, buttons.refusal)
  }

  /// The first button is the one that a key on its way to another window presses: never the larger yes. The second one is all else, an
  /// Escape too: never a yes. So the larger yes takes a question of its own.
  private func chooseByTwoButtons(_ session: PinentrySession, _ buttons: Buttons, _ second: String) throws -> Choice {
    guard try confirm(session, buttons.either, nil, buttons.refusal) == .first else { return .refused }
    if try confirm(session, buttons.first, nil, buttons.more) == .first { return .first }
    return try confirm(session, second, nil, buttons.refusal) == .first ? .second : .refused
  }

  private func confirm(_ session: PinentrySession, _ first: String, _ second: String?, _ refusal: String) throws -> Choice {
    try session.require("SETOK", first)
    try session.require("SETCANCEL", refusal)
    if let second { try session.require("SETNOTOK", second) }
    switch try session.confirm() {
    case .confirmed: return .first
    case .notConfirmed: return second == nil ? .refused : .second
    case .cancelled: return .refused
    }
  }
}
