import ArgumentParser
import CofferConsole
import CofferWire
import SecretMemory
import VaultCore

struct VaultCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vault",
    abstract: "Make, check, unlock and back up vaults.",
    subcommands: [
      VaultInit.self, VaultStatusCommand.self, VaultUnlock.self, VaultLock.self, VaultVerify.self, VaultPassphrase.self,
      VaultSlot.self, VaultBackup.self, VaultRestore.self, VaultAcceptRollback.self, VaultMigrate.self, VaultPolicy.self,
      VaultKDF.self, VaultRotate.self, VaultRepair.self,
    ]
  )

  func run() throws {
    throw Failure.usage("vault: a verb is missing", hint: "coffer vault --help")
  }
}

struct VaultAcceptRollback: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-rollback", abstract: "Accept the vault as it is now, after restoring a backup.",
    discussion: "Asks at a terminal; without a terminal it needs --force.")

  @Flag(help: "Do not ask.")
  var force = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let owned = try vault.ownedVault()
    let name = try owned.name
    let accepted = try owned.acceptRollback { try confirm($0, name) }
    if accepted == nil {
      Descriptor.error.note("nothing to accept: the vault is the state last seen here, or continues it\n")
    }
  }

  private func confirm(_ rollback: VaultCheck.Rollback, _ path: String) throws {
    let past =
      switch (rollback.reason.code, rollback.seen) {
      case (.rolledBack, let seen?): "generation \(seen) was seen here before"
      case (.forked, let seen?): "another history, up to generation \(seen), was seen here before"
      case (.anchorOtherKeys, _):
        "the state seen here before was sealed with other keys; if they were renewed, credentials of before open it again"
      case (.anchorOtherVault, _): "another vault was here before"
      default: "the state seen here before is not known"
      }
    Descriptor.error.note("\(path.escapingControls()): is of generation \(rollback.present); \(past)\n")
    if !force { try Question.agree("Accept it?", about: path, vault) }
  }
}
