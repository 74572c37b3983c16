import ArgumentParser
import Glibc

struct Coffer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coffer",
    abstract: "A keychain for Linux.",
    version: "0.1.0",
    subcommands: [VaultCommand.self, SecretCommand.self, CompletionCommand.self]
  )

  /// Nouns alone do nothing.
  func run() throws {
    throw Failure.usage("a noun and a verb are missing", hint: "coffer --help")
  }
}

extension Coffer {
  /// Runs the program. The exit status is the answer.
  static func start() -> ExitStatus {
    do {
      try RawArguments.check()
      var command = try parseAsRoot()
      try command.run()
      return .ok
    } catch {
      return report(error)
    }
  }

  private static func report(_ error: any Error) -> ExitStatus {
    do {
      if !(error is Failure), exitCode(for: error) == .success {
        try Descriptor.output.write(fullMessage(for: error) + "\n")
        return .ok
      }
      throw error
    } catch {
      let failure = Failure(error)
      try? Descriptor.error.write(failure.text)
      return failure.status
    }
  }
}
