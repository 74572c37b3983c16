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
      try work()
      return .ok
    } catch {
      let failure = Failure(error)
      Descriptor.error.note(failure.text)
      return failure.status
    }
  }

  private static func work() throws {
    var isParsed = false
    do {
      var command = try parseAsRoot()
      isParsed = true
      try command.run()
    } catch {
      // Help and the version come as errors, from the parser or from its own command "help".
      if !(error is Failure), exitCode(for: error) == .success {
        return try Descriptor.output.write(fullMessage(for: error) + "\n")
      }
      throw isParsed ? error : Failure(parsing: error)
    }
  }
}
