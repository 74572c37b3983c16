import ArgumentParser
import Coffer
import CofferConsole
import CofferStorage
import SecretMemory
import VaultCore

struct VaultUnlock: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Open the vault in the agent, which gives it to later commands and to apps.",
    discussion: "Starts the agent, cofferd, if none runs.")

  @Option(
    help: ArgumentHelp(
      "Lock after so many minutes without use, else 15; 0: never. For an agent that is started.", valueName: "minutes"))
  var idle: Int?

  @Option(
    help: ArgumentHelp(
      "If the owner is asked first, offer to agree for so many minutes, else 5; 0: only once. For an agent that is started.",
      valueName: "minutes"))
  var lease: Int?

  @Flag(help: "Only prove that the credential is right; no agent is started or asked.")
  var check = false

  @Flag(
    help: """
      For pam_coffer: a vault that is open is left as it is, and if it stays locked, coffer doctor prints why.
      """)
  var atLogIn = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let owned = try vault.ownedVault()
    guard !(check && atLogIn) else { throw Failure.usage("--check, --at-log-in: one of them") }
    guard !check else { return try owned.check() }
    for (name, minutes) in [("--idle", idle), ("--lease", lease)] {
      guard (0...60 * 24 * 365).contains(minutes ?? 0) else { throw Failure.usage("\(name): 0 to 525600 minutes") }
    }
    var options: [String] = []
    if let idle { options += ["--idle", "\(idle)"] }
    if let lease { options += ["--lease", "\(lease)"] }
    guard atLogIn else { return try owned.unlock(startingAgentWith: options) }
    try LogInNote.keeping {
      if try owned.agent().agentStateIfThere() != .unlocked { try owned.unlock(startingAgentWith: options) }
    }
  }
}

struct VaultLock: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Let the agent forget the keys.", discussion: "If no agent runs, nothing is open.")

  @OptionGroup var agent: AgentOptions

  @Flag(help: "Print the state afterwards, as JSON.")
  var json = false

  func run() throws {
    var state = "none"
    try agent.ifThere(else: "note: no agent runs: nothing is open\n") {
      try $0.lock()
      state = "locked"
    }
    if json { try AgentOptions.printState(state) }
  }
}
