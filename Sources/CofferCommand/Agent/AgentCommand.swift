import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferRequests
import CofferStorage

struct AgentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent", abstract: "The program that keeps a vault open.",
    discussion: "coffer vault unlock starts it, coffer vault lock makes it forget the keys.",
    subcommands: [AgentStatusCommand.self, AgentStop.self])

  func run() throws {
    throw Failure.usage("agent: a verb is missing", hint: "coffer agent --help")
  }
}

/// Whose agent.
struct AgentOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The vault's file.", valueName: "path"), completion: .file())
  var vault: String?

  @Flag(help: "That of the system, with a vault that no program of this user can read.")
  var system = false

  func keychain() throws -> Keychain {
    var options = try VaultOptions.parse([])
    (options.vault, options.system) = (vault, system)
    return try options.ownedVault().agent()
  }

  /// - Parameter note: The message if no agent runs.
  /// - Throws: The error of a running agent, or that it does not answer: it may have the vault open.
  func ifThere(else note: String, _ body: (Keychain) throws -> Void) throws {
    do {
      try body(try keychain())
    } catch let error as KeychainError where error.cause == .absentAgent {
      Descriptor.error.note(note)
    }
  }

  /// As `coffer agent status --json` would say it.
  static func printState(_ state: String) throws {
    try Descriptor.output.write(JSON.object([("agent", .text(state))]).description + "\n")
  }
}

struct AgentStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show whether it runs, and has the vault open.",
    discussion: "Prints unlocked, locked or none.")

  @OptionGroup var agent: AgentOptions

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    let state = try agent.keychain().stateText()
    guard !json else { return try AgentOptions.printState(state) }
    try Descriptor.output.write(state + "\n")
  }
}

struct AgentStop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "End it.", discussion: "Locks the vault that it had open. If none runs, nothing is done.")

  @OptionGroup var agent: AgentOptions

  @Flag(help: "Print the state afterwards, as JSON.")
  var json = false

  func run() throws {
    try agent.ifThere(else: "note: no agent runs\n") {
      try $0.endAgent()
      try awaitEnd()
    }
    if json { try AgentOptions.printState("none") }
  }

  /// It answers before it closes the vault. A program that needs the vault for itself finds it free afterwards.
  private func awaitEnd() throws {
    let places = try Places { Environment[$0] }
    let lock = places.agentLock(forVaultAt: places.resolvedPath(ofVaultAt: agent.vault ?? places.vault))
    guard try AgentLock.isFree(lock, until: Deadline(milliseconds: Self.endMilliseconds)) else {
      throw Failure(
        .inputOutput, "the agent has not ended within \(Self.endMilliseconds / 1000) seconds", hint: "end it: kill(1)")
    }
  }

  /// An agent gives its clients three seconds.
  private static let endMilliseconds = 15_000
}

extension Keychain {
  /// - Throws: `agentNotAnswering`.
  func stateText() throws -> String {
    switch try agentStateIfThere() {
    case nil: "none"
    case .unlocked: "unlocked"
    case .locked, .lockedAfterUnlock: "locked"
    }
  }
}
