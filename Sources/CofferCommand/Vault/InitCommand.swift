import ArgumentParser
import CofferConsole

/// A person's first command: a vault, a recovery key on paper, and an agent that has the vault open.
struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Make your vault at a terminal, and unlock it.",
    discussion: "Asks for a passphrase, shows a recovery key, and asks for parts of it. In a script: coffer vault init.")

  @OptionGroup var place: NewVaultOptions

  @Flag(help: "Make no recovery key. A forgotten passphrase then means that the vault is lost.")
  var noRecoveryKey = false

  func run() throws {
    guard Descriptor.input.isTerminal, Descriptor.output.isTerminal else {
      throw Failure(
        .locked, "init: needs a person at a terminal", hint: "in a script: coffer vault init --key-file FILE --no-passphrase")
    }
    var new = try VaultInit.parse([])
    (new.place, new.recoveryKey) = (place, !noRecoveryKey)
    let owned = try place.ownedVault()
    try owned.unlock(with: new.create(owned))
    let next = "coffer set SERVICE/ACCOUNT"
    let named = place.vault.flatMap { Failure.hint(next, naming: $0) } ?? next
    Descriptor.error.note("It is unlocked. Keep a first secret: \(named)\n")
  }
}
