import VaultCore

/// Whoever sits at the controlling terminal, if somebody does.
enum Person {
  /// - Throws: `locked` where there is nobody to ask, or nobody may be asked.
  static func ask(_ question: String, isAllowed: Bool) throws -> Secret {
    guard isAllowed, let prompt = try Prompt.open() else { throw nobody }
    return try prompt.ask(question)
  }

  /// What is not seen is typed twice. An empty answer is one too.
  static func askTwice(_ question: String, isAllowed: Bool) throws -> Secret {
    guard isAllowed, let prompt = try Prompt.open() else { throw nobody }
    for _ in 0..<3 {
      let first = try prompt.ask("\(question): ")
      let second = try prompt.ask("\(question), again: ")
      if first.isEqual(to: second) { return first }
      try prompt.say("These are not the same.")
    }
    throw Failure(.cancelled, "\(question.lowercased()): typed differently three times; nothing has been changed")
  }

  private static var nobody: Failure {
    Failure(
      .locked, "a passphrase is needed, and there is nobody to ask",
      hint: "--passphrase-fd N, --key-file FILE, $CREDENTIALS_DIRECTORY/coffer.passphrase, or a terminal")
  }
}
