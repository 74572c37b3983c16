import CofferAudit
import CofferConsole
import CofferFiles
import Glibc
import SecretMemory

/// The number of guesses that a passphrase withstands, as `coffer-strength` estimates it.
struct PassphraseStrength {
  /// The bytes that the program looks at, in 2 milliseconds.
  private static let byteCount = 256
  private static let answerCount = 16
  /// Below this a note says how long guessing takes.
  private static let noted = 100
  /// Below this a person is asked as well.
  private static let asked = 60

  /// Ten times the logarithm, base 10, of the number of guesses.
  let tenths: Int

  /// Returns nil if the program is not there, or does not answer.
  init?(of passphrase: borrowing Secret) {
    guard let program = Self.program, let answer = Self.ask(program, passphrase) else { return nil }
    let parts = answer.split(separator: ".").map { Int($0) }
    guard parts.count == 2, let whole = parts[0], let tenth = parts[1], (0..<1000).contains(whole), (0..<10).contains(tenth)
    else {
      return nil
    }
    tenths = whole * 10 + tenth
  }

  init(tenths: Int) { self.tenths = tenths }

  var isNoted: Bool { tenths < Self.noted }
  var isAsked: Bool { tenths < Self.asked }

  /// At 1,000 guesses a second.
  var time: String {
    let seconds = pow(10, Double(tenths) / 10) / 1000
    let units: [(Double, String)] = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")]
    guard let (length, name) = units.first(where: { seconds >= $0.0 }) else { return "less than a second" }
    return "about \(counted(Int((seconds / length).rounded()), name))"
  }

  /// The program: installed in libexec, or beside this one where both are built. Nil if it cannot be started.
  static var program: String? {
    ProgramPlaces.internalProgram("coffer-strength").first { unsafe access($0, X_OK) == 0 }
  }

  private static func ask(_ program: String, _ passphrase: borrowing Secret) -> String? {
    var filter = FilterProgram([program])
    filter.environment = []
    do {
      let outcome = try filter.run(passphrase.copy(0, min(passphrase.count, byteCount)), limit: answerCount)
      guard outcome.status == 0 else { return nil }
      return outcome.output.text.split(separator: "\n").first.map(String.init)
    } catch {
      return nil
    }
  }
}
