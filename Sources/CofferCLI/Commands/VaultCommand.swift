import ArgumentParser
import VaultCore

struct VaultCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vault",
    abstract: "Make, check and unlock vaults.",
    subcommands: [
      VaultInit.self, VaultStatusCommand.self, VaultUnlock.self, VaultVerify.self, VaultPassphrase.self, VaultSlot.self,
      VaultAcceptRollback.self,
    ]
  )

  func run() throws {
    throw Failure.usage("vault: a verb is missing", hint: "coffer vault --help")
  }
}

struct VaultUnlock: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "unlock", abstract: "Check that the passphrase opens the vault.")

  @OptionGroup var vault: VaultOptions

  func run() throws {
    try vault.open().finish()
  }
}

struct VaultAcceptRollback: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-rollback", abstract: "Accept the vault as it is now, after restoring a backup.")

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let place = try vault.openPlace()
    try vault.withCredential(for: place) { credential in
      try Vault.acceptRollback(place.store, with: credential, ceiling: vault.ceiling, anchor: place.anchor)
    }
  }
}
