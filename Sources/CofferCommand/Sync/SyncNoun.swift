import ArgumentParser
import CofferConsole
import CofferFiles
import Glibc

/// `sync` for `coffer help`, the completions and the manual. `Coffer.start` becomes `coffer-sync` before the parser runs: so `coffer`
/// starts without the log and its engines.
struct SyncNoun: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Have the same secrets on several machines, or in a team.",
    discussion: "coffer sync --help prints the verbs.")

  @Argument(help: "The verb and its arguments.", completion: OfferedNames.syncWords)
  var verb: String

  @Argument(parsing: .captureForPassthrough, help: "The arguments of the verb.", completion: OfferedNames.syncWords)
  var arguments: [String] = []

  func run() throws { try Self.become([verb] + arguments) }

  /// - Throws: other, if it was not installed.
  static func become(_ words: [String]) throws -> Never {
    try Launch.become(program(), words, keeping: -1, alone: false)
  }

  /// - Throws: other, if it was not installed.
  static func program() throws -> String {
    guard let program = ProgramPlaces.internalProgram("coffer-sync").first(where: { unsafe access($0, X_OK) == 0 }) else {
      throw Failure(.other, "coffer-sync is missing", hint: "install Coffer again")
    }
    return program
  }
}
