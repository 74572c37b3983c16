import ArgumentParser

/// Which vault is backed up or restored: for root also that of another user.
struct BackedUpVaultOptions: ParsableArguments {
  @OptionGroup var vault: VaultOptions

  @Option(help: ArgumentHelp("As root: the vault that the system's agent keeps for this user.", valueName: "uid"))
  var user: UInt32?

  /// Opens no file.
  func ownedVault() throws -> any OwnedVault {
    try user.map { try vault.systemVault(of: $0) } ?? vault.ownedVault()
  }
}
