import VaultCore

/// Whoever sits at the controlling terminal, if somebody does.
enum Person {
  /// - Throws: `locked` where there is nobody to ask, or nobody may be asked.
  static func ask(_ question: String, isShown: Bool = false, isAllowed: Bool) throws -> Secret {
    guard isAllowed, let prompt = try Prompt.open() else { throw nobody(question) }
    return try prompt.ask(question, isShown: isShown)
  }

  /// What is not seen is typed twice. An empty answer is one too.
  static func askTwice(_ question: String, isAllowed: Bool) throws -> Secret {
    guard isAllowed, let prompt = try Prompt.open() else { throw nobody(question) }
    for _ in 0..<3 {
      let first = try prompt.ask("\(question): ")
      let second = try prompt.ask("\(question), again: ")
      if first.isEqual(to: second) { return first }
      try prompt.say("These are not the same.")
    }
    throw Failure(.cancelled, "\(question.lowercased()): typed differently three times; nothing has been changed")
  }

  /// What can be done about it depends on what was to be asked.
  private static func nobody(_ question: String) -> Failure {
    guard question != "Secret" else {
      return Failure(
        .locked, "a secret is needed, and there is nobody to ask", hint: "standard input that is no terminal, or --file FILE")
    }
    return Failure(
      .locked, "a passphrase is needed, and there is nobody to ask",
      hint: "--passphrase-fd N, --key-file FILE, $CREDENTIALS_DIRECTORY/coffer.passphrase, or a terminal")
  }
}
