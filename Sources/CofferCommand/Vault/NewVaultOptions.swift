import ArgumentParser

/// Where a new vault is to be, and what it costs to open.
struct NewVaultOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The vault's file.", valueName: "path"), completion: .file())
  var vault: String?

  @Flag(help: "One that the system's agent keeps, and no program of this user can read.")
  var system = false

  @Flag(help: "Take 64 MiB instead of 256 MiB to check the passphrase.")
  var lowMemory = false

  @Flag(help: "Continue if memory cannot be locked; secrets may be swapped out then.")
  var allowSwap = false

  func ownedVault() throws -> any OwnedVault {
    var options = try VaultOptions.parse([])
    (options.vault, options.system, options.allowSwap) = (vault, system, allowSwap)
    return try options.ownedVault()
  }
}
