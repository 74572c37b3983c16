import ArgumentParser
import CofferConsole
import Explanations

/// The program behind `coffer sync`: what devices share. It reads the vault through the agent, as `coffer` does.
struct SyncProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coffer sync", abstract: "Have the same secrets on several machines, or in a team.",
    discussion: """
      Devices append sealed changes to one log, in a directory that they reach. The machine that keeps it can read nothing.
      Begin with: coffer sync init dir:/srv/shared
      """,
    subcommands: [
      SyncInit.self, SyncJoin.self, SyncAdd.self, SyncShare.self, SyncUnshare.self, SyncNow.self, SyncWatch.self,
      SyncStatus.self, SyncCheck.self, SyncConflicts.self, SyncMembers.self, SyncRole.self, SyncRemove.self, SyncRecoveryKey.self,
      SyncAcceptDeletions.self, SyncAcceptHistory.self, SyncSettings.self, SyncLeave.self, SyncServe.self, SyncFindings.self,
      SyncOffers.self,
    ])

  func run() throws { throw Failure.usage("sync: a verb is missing", hint: "coffer sync --help") }

  /// Runs the program and returns its exit status.
  static func start() -> Int32 {
    do {
      var command = try parseAsRoot()
      try command.run()
      return ExitStatus.ok.rawValue
    } catch {
      if !(error is Failure), exitCode(for: error) == .success {
        try? Descriptor.output.write(fullMessage(for: error) + "\n")
        return ExitStatus.ok.rawValue
      }
      let failure = isExplained(error) ? Failure(error) : misunderstood(error, Array(CommandLine.arguments.dropFirst()))
      Descriptor.error.note(failure.text)
      return failure.status.rawValue
    }
  }

  /// An error of the parser, in the form that `coffer` has for it.
  private static func misunderstood(_ error: any Error, _ words: [String]) -> Failure {
    let verb = words.first ?? ""
    guard configuration.subcommands.contains(where: { $0.configuration.commandName == verb }) else {
      return .usage("no such verb: \(verb)", hint: "coffer sync --help")
    }
    let message = message(for: error)
    return .usage("arguments: \(message.prefix(1).lowercased())\(message.dropFirst())", hint: "coffer sync \(verb) --help")
  }

  /// Whether it is an error of a command, and none of the parser.
  private static func isExplained(_ error: any Error) -> Bool { error is Failure || error is any Explained }
}
