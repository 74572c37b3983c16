import CofferConsole
import ProgramSecrets
import SecretMemory

/// Yes or no, at the terminal.
enum Question {
  /// Anything but "y" or "yes", in capitals or not, is a no.
  static func isYes(_ question: String) throws -> Bool {
    let answer = try Person.ask(question, isShown: true, isAllowed: true)
    return ["y", "yes"].contains { isWord($0, answer, ignoring: 0x20) }
  }

  /// Asks for a yes, without which nothing is done.
  /// - Throws: `locked` if there is no person to ask; `cancelled`.
  static func agree(_ question: String, about subject: String, _ vault: VaultOptions, hint: String = "--force") throws {
    guard vault.isAnybodyThere else { throw unanswered(subject, hint) }
    guard try isYes("\(question) [y/N] ") else { throw Failure.cancelled }
  }

  static func unanswered(_ subject: String, _ hint: String) -> Failure {
    Failure(.locked, "\(subject): a person must agree, and cannot be asked here", hint: hint)
  }

  /// Whether exactly this word is the answer.
  static func isWord(_ word: String, _ question: String) throws -> Bool {
    try isWord(word, Person.ask(question, isShown: true, isAllowed: true), ignoring: 0)
  }

  /// - Parameter bits: 0x20 tells small letters from capitals.
  private static func isWord(_ word: String, _ answer: borrowing Secret, ignoring bits: UInt8) -> Bool {
    answer.withBytes { bytes in
      bytes.byteCount == word.utf8.count
        && word.utf8.enumerated().allSatisfy { bytes.byte(at: $0.offset) | bits == $0.element | bits }
    }
  }
}
