import ArgumentParser
import CofferConsole
import CofferFiles
import Passphrases
import SecretMemory
import VaultCore

struct VaultInit: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Make a new vault. Nothing that exists is touched.")

  @OptionGroup var place: NewVaultOptions

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

  @Flag(help: "Never ask for anything.")
  var noInput = false

  func run() throws {
    if noPassphrase, keyFile == nil { throw Failure.usage("--no-passphrase: needs --key-file FILE") }
    if noPassphrase, passphraseDescriptor != nil { throw Failure.usage("--no-passphrase: --passphrase-fd gives one") }
    _ = try create(place.ownedVault())
  }

  /// - Returns: The credential that opens it.
  func create(_ owned: any OwnedVault) throws -> Credential {
    try owned.checkIsFree()
    let credential = try credential()
    let keys = try recoveryKey ? [NewRecoveryKey()] : []
    try NewRecoveryKey.counting(keys) {
      for key in keys { try key.deliver(isInputAllowed: !noInput) }
      try owned.create(
        with: credential, kdf: place.lowMemory ? .lowMemory : .standard,
        recovery: keys.first.map { try $0.text.duplicate() } ?? Secret(count: 0))
    }
    if Descriptor.error.isTerminal { Descriptor.error.note("\(try owned.name.escapingControls()): a new vault\n") }
    return credential
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
