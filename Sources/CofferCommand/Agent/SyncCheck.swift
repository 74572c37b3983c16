import CofferConsole
import CofferFiles
import Glibc

/// The spaces of `coffer sync`, as its own program sees them: the log and its engines are no part of `coffer`.
struct SyncCheck {
  /// In milliseconds: an engine may be behind a network that does not answer.
  private static let patience = 120_000

  let lines: [String]
  /// An array with an object for each space, as `coffer sync status --json` has it; null if they cannot be read.
  let json: JSON

  /// - Parameters:
  ///   - state: The state directory of the user.
  ///   - isJSON: Whether `json` is wanted, and not `lines`.
  /// - Returns: nil if no space has files here.
  init?(in state: String, isJSON: Bool) {
    guard unsafe access(Path.join(state, "sync"), F_OK) == 0 else { return nil }
    let outcome: ProgramOutput.Outcome
    do {
      outcome = try ProgramOutput.of(
        SyncNoun.program(), isJSON ? ["status", "--json"] : ["findings"], patience: Self.patience)
    } catch {
      (lines, json) = (["sync: not checked (\(Failure(error).message))"], .null)
      return
    }
    let output = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
    switch ExitStatus(rawValue: outcome.status) {
    case .ok: (lines, json) = (output, .array(output.map { .written($0) }))
    // The directory stays when the last space is left.
    case .notFound where output.isEmpty: return nil
    case .locked: (lines, json) = (["sync: not checked, because the vault is locked; coffer unlock"], .null)
    default: (lines, json) = (["sync: cannot be read; coffer sync status says why"] + output, .null)
    }
  }
}
