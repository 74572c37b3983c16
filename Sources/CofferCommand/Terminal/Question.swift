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

  /// Whether exactly this word is the answer.
  static func isWord(_ word: String, _ question: String) throws -> Bool {
    let answer = try Person.ask(question, isShown: true, isAllowed: true)
    return answer.withBytes { bytes in
      bytes.byteCount == word.utf8.count && word.utf8.enumerated().allSatisfy { bytes.byte(at: $0.offset) == $0.element }
    }
  }
}
