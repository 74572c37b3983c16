import CofferConsole
import SecretMemory

/// The person at the controlling terminal, or else at a display, if any.
enum Person {
  private static let mistyped = "These are not the same."
  static let empty = "Empty. Try again."

  /// - Parameter error: Why it is asked again. Shown in a window; at a terminal it has been said already.
  /// - Throws: `locked` if there is no terminal and no display, or asking is not allowed.
  static func ask(_ question: String, isShown: Bool = false, isAllowed: Bool, error: String? = nil) throws -> Secret {
    guard isAllowed else { throw isShown ? unanswered : nobody(question) }
    if let prompt = try Prompt.open() { return try prompt.ask(question, isShown: isShown, isFresh: isShown || error != nil) }
    // A pinentry shows nothing of what is typed.
    guard !isShown else { throw unanswered }
    guard let window = try DisplayPrompt.open() else { throw nobody(question) }
    return try window.ask(question, error: error)
  }

  /// Asks twice, because the input is hidden.
  /// - Parameter isEmptyAllowed: Whether an empty answer is one. Otherwise it is asked again, and the third empty one is
  ///   returned.
  static func askTwice(_ question: String, isAllowed: Bool, isEmptyAllowed: Bool) throws -> Secret {
    guard isAllowed else { throw nobody(question) }
    let prompt = try Prompt.open()
    let window = try prompt == nil ? DisplayPrompt.open() : nil
    func ask(_ asked: String, _ error: String?) throws -> Secret {
      switch prompt {
      case .some(let prompt): return try prompt.ask(asked, isFresh: error != nil)
      case .none:
        guard let window else { throw nobody(question) }
        return try window.ask(asked, error: error)
      }
    }
    var problem: String?
    for attempt in 1...3 {
      let first = try ask("\(question): ", problem)
      if first.count == 0, !isEmptyAllowed {
        guard attempt < 3 else { return first }
        problem = empty
      } else {
        let second = try ask("\(question), again: ", nil)
        if first.isEqual(to: second) { return first }
        problem = mistyped
      }
      switch prompt {
      case .some(let prompt): try prompt.say(problem ?? "")
      case .none: break
      }
    }
    throw Failure(.cancelled, "\(question.lowercased()): typed differently three times; nothing has been changed")
  }

  /// Without a terminal, or in a job in its background, nothing that is shown can be answered.
  private static let unanswered = Failure(
    .locked, "an answer is needed, and cannot be asked for here",
    hint: "the foreground of a terminal, or --force if the command has it")

  /// The hint depends on the question that could not be asked.
  private static func nobody(_ question: String) -> Failure {
    guard question != "Secret" else {
      return Failure(
        .locked, "a secret is needed, and cannot be asked for here", hint: "standard input that is not a terminal, or --file FILE"
      )
    }
    return Failure(
      .locked, "a passphrase is needed, and cannot be asked for here",
      hint: "--passphrase-fd N, --key-file FILE, $CREDENTIALS_DIRECTORY/coffer.passphrase, or a terminal")
  }
}
