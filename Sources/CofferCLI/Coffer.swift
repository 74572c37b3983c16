import ArgumentParser

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
      guard var command = try parsed() else { return .ok }
      try command.run()
      return .ok
    } catch {
      let failure = Failure(error)
      try? Descriptor.error.write(failure.text)
      return failure.status
    }
  }

  /// Nil where help or the version was wanted, and has been printed.
  private static func parsed() throws -> (any ParsableCommand)? {
    do {
      let command = try parseAsRoot()
      // Its own command for "coffer help" prints by throwing.
      guard "\(type(of: command))" == "HelpCommand" else { return command }
      var help = command
      try help.run()
      return nil
    } catch {
      guard exitCode(for: error) == .success else { throw Failure(parsing: error) }
      try Descriptor.output.write(fullMessage(for: error) + "\n")
      return nil
    }
  }
}
