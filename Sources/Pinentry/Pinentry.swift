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

  /// What the person types to agree. Anything else is a no.
  package struct Words: Sendable {
    package var first: String
    /// Nil if there is only one way to agree.
    package var second: String?

    package init(first: String, second: String?) { (self.first, self.second) = (first, second) }
  }

  package enum Choice: Equatable, Sendable {
    case first, second
    /// All else: an Escape, a closed window, another word.
    case refused
  }

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
    let session = try PinentrySession(program, seat, question, seconds, patience, withdrawal, nil)
    try session.require("SETPROMPT", question.prompt)
    return try session.typed()
  }

  /// Asks for a word, because a key that was meant for another window or program presses a button but does not type a word. What was typed
  /// at a terminal before the question is dropped.
  /// - Parameter isWanted: Asked several times a second while the person has time, and when there is an answer. When it returns false, the
  ///   question is over.
  /// - Throws: `PinentryError`: `timedOut`, `withdrawn`, `background`, … But not `cancelled`: that is an answer. `VaultError` of locked memory.
  package func choose(
    _ question: Question, _ words: Words, seconds: Int, withdrawal: Int32 = -1, while isWanted: (() -> Bool)? = nil
  ) throws -> Choice {
    let session = try PinentrySession(program, seat, question, seconds, patience, withdrawal, isWanted)
    try session.require("SETPROMPT", question.prompt)
    try session.suggest("SETCANCEL Refuse")
    seat.dropInput()
    let typed: Secret
    do {
      typed = try session.typed()
    } catch let error as PinentryError where error.code == .cancelled {
      return .refused
    }
    if let isWanted { guard isWanted() else { throw PinentryError(.background) } }
    if typed.isText(words.first) { return .first }
    if let second = words.second, typed.isText(second) { return .second }
    return .refused
  }
}

extension Secret {
  fileprivate borrowing func isText(_ text: String) -> Bool {
    withBytes { bytes in
      bytes.byteCount == text.utf8.count && text.utf8.enumerated().allSatisfy { bytes.byte(at: $0) == $1 }
    }
  }
}
