package import SecretMemory

/// Asks a person through GnuPG's pinentry, which provides windows and terminal prompts. Each question starts a process.
package struct Pinentry: Sendable {
  /// The texts of a question. Texts from other programs are made `visible` first.
  package struct Question: Sendable {
    package var title: String
    package var description: String
    package var prompt: String
    /// The reason why the question is repeated.
    package var error: String?

    package init(title: String = "Coffer", description: String, prompt: String = "", error: String? = nil) {
      self.title = title
      self.description = description
      self.prompt = prompt
      self.error = error
    }
  }

  /// The words that the person types to agree. Any other input refuses.
  package struct Words: Sendable {
    package var first: String
    /// nil if there is only one way to agree.
    package var second: String?

    package init(first: String, second: String?) { (self.first, self.second) = (first, second) }
  }

  package enum Choice: Equatable, Sendable {
    case first, second
    /// Any other input: Escape, a closed window, another word.
    case refused
  }

  /// Time limits, in milliseconds.
  struct Patience {
    /// The time for the program to react to a command that needs no person.
    var reaction: Int64 = 10_000
    /// The time after the end of the person's time in which the program may still report it.
    var grace: Int64 = 3_000
  }

  var patience = Patience()
  private let program: PinentryProgram
  private let display: Display

  /// - Throws: `noDisplay`.
  package init(_ program: PinentryProgram, at display: Display) throws(PinentryError) {
    guard display.isKnown else { throw PinentryError(.noDisplay) }
    self.program = program
    self.display = display
  }

  /// Asks for a passphrase, which is received in locked memory only.
  /// - Parameters:
  ///   - seconds: The time that the person has.
  ///   - withdrawal: A socket; the question ends when its other end is closed. -1 if there is none.
  /// - Throws: `PinentryError`; `VaultError` of locked memory.
  package func passphrase(_ question: Question, seconds: Int, withdrawal: Int32 = -1) throws -> Secret {
    let session = try PinentrySession(program, display, question, seconds, patience, withdrawal, nil)
    try session.require("SETPROMPT", question.prompt)
    return try session.typed()
  }

  /// Asks for a word, because a key press meant for another window or program presses a button, but does not type a word. Input
  /// typed at a terminal before the question is discarded.
  /// - Parameter isWanted: Called several times a second while the person has time, and when there is an answer. The question
  ///   ends when it returns false.
  /// - Throws: `PinentryError`: `timedOut`, `withdrawn`, `background`, … but not `cancelled`, which is an answer. `VaultError` of
  ///   locked memory.
  package func choose(
    _ question: Question, _ words: Words, seconds: Int, withdrawal: Int32 = -1, while isWanted: (() -> Bool)? = nil
  ) throws -> Choice {
    let session = try PinentrySession(program, display, question, seconds, patience, withdrawal, isWanted)
    try session.require("SETPROMPT", question.prompt)
    try session.suggest("SETCANCEL Refuse")
    display.dropInput()
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
