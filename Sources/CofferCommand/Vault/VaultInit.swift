import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferStorage
import Passphrases
import SecretMemory
import VaultCore

struct VaultInit: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Make a new vault. Nothing that exists is touched.")

  @Option(help: ArgumentHelp("The vault's file.", valueName: "path"), completion: .file())
  var vault: String?

  @Flag(help: "One that the system's agent keeps, and no program of this user can read.")
  var system = false

  @Flag(help: "Take 64 MiB instead of 256 MiB to check the passphrase.")
  var lowMemory = false

  @Option(
    help: ArgumentHelp("A key file that is needed too, or alone with --no-passphrase.", valueName: "file"), completion: .file())
  var keyFile: String?

  @Flag(help: "The key file alone opens the vault.")
  var noPassphrase = false

  @Option(
    name: .customLong("passphrase-fd"), help: ArgumentHelp("Read the passphrase from this open descriptor.", valueName: "n"))
  var passphraseDescriptor: Int32?

  @Flag(help: "Make a recovery key too, and print it once.")
  var recoveryKey = false

  @Flag(help: "Never ask anybody for anything.")
  var noInput = false

  @Flag(help: "Go on where memory cannot be locked, so that secrets may be swapped out.")
  var allowSwap = false

  func run() throws {
    if allowSwap { LockedMemory.policy = .allowSwap }
    if noPassphrase, keyFile == nil { throw Failure.usage("--no-passphrase: needs --key-file FILE") }
    if noPassphrase, passphraseDescriptor != nil { throw Failure.usage("--no-passphrase: --passphrase-fd gives one") }
    if let keychain = try VaultOptions.systemAgent(isNamed: system, vault: vault) { return try create(with: keychain) }
    try VaultPlace.checkFree(vault)
    let credential = try credential()
    let place = try VaultPlace(creating: vault)
    try about(place.path) {
      var vault = try Vault.create(
        in: place.store, with: credential, kdf: lowMemory ? .lowMemory : .standard, at: .now(), anchor: place.anchor,
        deviceKey: try place.deviceKey())
      let text = recoveryKey ? try vault.addRecoverySlot() : nil
      vault.finish()
      if let text { try RecoveryKeyOutput.print(text) }
    }
    if Descriptor.error.isTerminal { Descriptor.error.note("\(place.path.escapingControls()): a new vault\n") }
  }

  private func create(with keychain: Keychain) throws {
    try about(VaultOptions.systemVault) {
      // Before anybody is asked for a passphrase.
      guard try !keychain.hasVault() else {
        throw StorageError(.vaultExists)
      }
      let text = recoveryKey ? try RecoveryKey.random() : try Secret(count: 0)
      try keychain.createVault(
        with: credential(), kdf: lowMemory ? .lowMemory : .standard, recovery: text.duplicate())
      if recoveryKey { try RecoveryKeyOutput.print(text) }
    }
    if Descriptor.error.isTerminal { Descriptor.error.note("\(VaultOptions.systemVault): a new one, unlocked\n") }
  }

  private func credential() throws -> Credential {
    let opened = try keyFile.map { try Descriptor.openKeyFile($0) }
    Hardening.hide()
    if noPassphrase, let opened { return try .keyFile(.readingFile(opened)) }
    let source = PassphraseSource(descriptor: passphraseDescriptor, option: "--passphrase-fd", isInputAllowed: !noInput)
    let file = try opened.map { try Secret.readingFile($0) }
    let passphrase = try source.readNew("New passphrase")
    guard let file else { return try .passphrase(passphrase) }
    return try .passphrase(passphrase, andKeyFile: file)
  }
}
