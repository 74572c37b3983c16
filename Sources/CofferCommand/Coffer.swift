import ArgumentParser
import CofferConsole
import DefaultsCommand

struct Coffer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coffer",
    abstract: "A keychain and preference store for Linux.",
    discussion: "Begin with: coffer init",
    version: "0.1.0",
    subcommands: [
      VaultCommand.self, SecretCommand.self, DefaultsNoun.self, AppCommand.self, AccessCommand.self, GroupCommand.self,
      ImportCommand.self, ExportCommand.self, CredentialCommand.self, SSHCommand.self, BusCommand.self, ServiceCommand.self,
      SyncNoun.self,
      AgentCommand.self,
      DoctorCommand.self, CompletionCommand.self,
    ],
    groupedSubcommands: [CommandGroup(name: "Daily", subcommands: [InitCommand.self] + programs + shortForms)]
  )

  /// The verbs of `coffer vault` and `coffer secret` that work without their noun.
  static let shortForms: [any ParsableCommand.Type] = [
    SecretSet.self, SecretGet.self, SecretCopy.self, SecretList.self, VaultUnlock.self, VaultLock.self,
  ]

  /// The nouns of their own for programs that need secrets.
  private static let programs: [any ParsableCommand.Type] = [RunCommand.self, InjectCommand.self, SweepCommand.self]

  /// A person who types the name alone asks for help.
  func run() throws { throw CleanExit.helpRequest(self) }
}

extension Coffer {
  /// Runs the program and returns its exit status.
  static func start() -> Int32 {
    let defaults = DefaultsProgram.arguments(of: CommandLine.arguments)
    let words = CalledName.words(of: CommandLine.arguments)
    do {
      try RawArguments.check()
      if let defaults { return DefaultsProgram.run(defaults) { try MoveDestination($0) } }
      try work(words)
      return ExitStatus.ok.rawValue
    } catch {
      let failure = Failure(error).naming(vault: CommandWords.vault(in: words[...]))
        .naming(system: CommandWords.namesSystem(in: words[...]))
      guard defaults == nil else { return DefaultsProgram.refuse(failure) }
      Descriptor.error.note(failure.text)
      return CommandWords.isOfProgram(CommandLine.arguments.dropFirst()) ? Launch.notStarted : failure.status.rawValue
    }
  }

  /// The command of a complete and correct command line. To parse a verb alone takes half the time of parsing its way down from
  /// the root, and start-up is most of what a command costs. Nil for everything else: the root knows what to say.
  private static func direct(_ words: [String]) -> (any ParsableCommand)? {
    let arguments = words[...]
    guard let noun = arguments.first else { return nil }
    func named(_ name: String) -> (any ParsableCommand.Type) -> Bool {
      { $0.configuration.commandName == name || $0.configuration.aliases.contains(name) }
    }
    if let short = (programs + shortForms).first(where: named(noun)) {
      return try? short.parse(Array(arguments.dropFirst()))
    }
    guard let verb = arguments.dropFirst().first,
      let type = configuration.subcommands.first(where: named(noun))?.configuration.subcommands.first(where: named(verb)),
      type.configuration.subcommands.isEmpty
    else { return nil }
    return try? type.parse(Array(arguments.dropFirst(2)))
  }

  private static func work(_ words: [String]) throws {
    if words.first == "sync" { try SyncNoun.become(Array(words.dropFirst())) }
    if words.count > 2, words.starts(with: ["help", "sync"]) { try SyncNoun.become(["help"] + words.dropFirst(2)) }
    try CommandWords.check(words[...])
    var isParsed = false
    do {
      var command = try direct(words) ?? parseAsRoot(CommandWords.help(in: words[...]) ?? words)
      isParsed = true
      try command.run()
    } catch {
      // Help and the version come as errors, from the parser or from its own command "help".
      if !(error is Failure), exitCode(for: error) == .success {
        return try Descriptor.output.write(fullMessage(for: error) + "\n")
      }
      throw isParsed ? error : CommandWords.unknown(in: words[...]) ?? Failure(parsing: error)
    }
  }
}
