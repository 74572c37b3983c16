import ArgumentParser
import DefaultsCommand

/// `defaults` for `coffer help`, the completions and the manual. `Coffer.start` runs it before the parser: see `DefaultsProgram`.
struct DefaultsNoun: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "defaults", abstract: "Read and write the settings of programs, as defaults of macOS does.",
    discussion: "coffer defaults help prints the verbs and the types of values.")

  @Argument(
    help: "The verb and its arguments. -currentHost or -host HOST may stand before it.",
    completion: .list(DefaultsVerb.allCases.map(\.rawValue)))
  var verb: String

  @Argument(parsing: .captureForPassthrough, help: "Domain, key and value.", completion: OfferedNames.domains)
  var arguments: [String] = []

  func run() throws {
    throw ExitCode(DefaultsProgram.run([verb] + arguments) { try MoveDestination($0) })
  }
}
