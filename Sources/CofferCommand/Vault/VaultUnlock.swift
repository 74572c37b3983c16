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
      "Where the owner is asked first, offer to agree for so many minutes, else 5; 0: only once. For an agent that is started.",
      valueName: "minutes"))
  var lease: Int?

  @Flag(help: "Only prove that the credential is right; no agent is started or asked.")
  var check = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    if let keychain = try vault.systemAgent() {
      guard !check else { throw Failure.usage("--check: the system's agent opens its vault itself") }
      return try vault.unlock(keychain)
    }
    guard !check else { return try vault.open().finish() }
    for (name, minutes) in [("--idle", idle), ("--lease", lease)] {
      guard (0...60 * 24 * 365).contains(minutes ?? 0) else { throw Failure.usage("\(name): 0 to 525600 minutes") }
    }
    let place = try vault.openPlace()
    let agent = try AgentProgram(for: vault)
    var options: [String] = []
    if let idle { options += ["--idle", "\(idle)"] }
    if let lease { options += ["--lease", "\(lease)"] }
    let isStarted = try agent.startUnlessRunning(with: options + (vault.allowSwap ? ["--allow-swap"] : []))
    if !isStarted, !options.isEmpty {
      Descriptor.error.note("note: the agent runs already: it keeps its own --idle and --lease (coffer agent stop ends it)\n")
    }
    let keychain = try Keychain.connect(toAgentAt: agent.socket)
    do {
      try unlock(keychain, place)
    } catch {
      // It was started for this alone. Another command may have unlocked it meanwhile.
      if isStarted, case .locked? = try? keychain.agentStateIfThere() { try? keychain.endAgent() }
      throw error
    }
  }

  private func unlock(_ keychain: Keychain, _ place: VaultPlace) throws {
    try vault.withCredential(for: place) { try keychain.unlock(with: $0, ceiling: vault.ceiling) }
  }
}

struct VaultLock: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Let the agent forget the keys.", discussion: "Where no agent runs, nothing is open.")

  @OptionGroup var agent: AgentOptions

  @Flag(help: "Print what it is then, as JSON.")
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
