import CofferConsole
import ProgramSecrets
import SecretMemory

/// Yes or no, at the terminal.
enum Question {
  /// Anything but a yes is a no.
  static func isYes(_ question: String) throws -> Bool {
    let answer = try Person.ask(question, isShown: true, isAllowed: true)
    return answer.withBytes { bytes in
      bytes.byteCount > 0 && (bytes.byte(at: 0) == UInt8(ascii: "y") || bytes.byte(at: 0) == UInt8(ascii: "Y"))
    }
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
    let answer = try Person.ask(question, isShown: true, isAllowed: true)
    return answer.withBytes { bytes in
      bytes.byteCount == word.utf8.count && word.utf8.enumerated().allSatisfy { bytes.byte(at: $0.offset) == $0.element }
    }
  }
}
