import ArgumentParser
import CofferConsole
import Passphrases
import SecretMemory
import VaultCore

/// A further way into a vault.
struct NewSlotOptions: ParsableArguments {
  @Flag(help: "A new passphrase, typed twice.")
  var newPassphrase = false

  @Option(
    name: .customLong("new-passphrase-fd"), help: ArgumentHelp("Read the new passphrase from this descriptor.", valueName: "n"))
  var newPassphraseDescriptor: Int32?

  @Option(help: ArgumentHelp("A key file; with a new passphrase, both are needed.", valueName: "file"), completion: .file())
  var newKeyFile: String?

  @Flag(help: "Take 64 MiB instead of 256 MiB to check the passphrase.")
  var lowMemory = false

  /// The cost that the options name; nil: that of the vault's policy.
  var kdf: KDFParameters? { lowMemory ? .lowMemory : nil }

  var hasPassphrase: Bool { newPassphrase || newPassphraseDescriptor != nil }

  /// While files of the caller still open.
  func openedKeyFile() throws -> Descriptor? {
    try newKeyFile.map { try .openKeyFile($0) }
  }

  /// The credential of the options; with `asksAlways` also a passphrase without an option for it.
  func credential(_ keyFile: Descriptor?, isInputAllowed: Bool, asksAlways: Bool = false) throws -> Credential {
    let file = try keyFile.map { try Secret.readingFile($0) }
    guard hasPassphrase || asksAlways else {
      guard let file else { throw Failure.usage("slot: one kind must be named", hint: "coffer vault slot add --help") }
      return try .keyFile(file)
    }
    let source = PassphraseSource(
      descriptor: newPassphraseDescriptor, option: "--new-passphrase-fd", isNew: true, isInputAllowed: isInputAllowed)
    let passphrase = try source.readNew("New passphrase")
    guard let file else { return try .passphrase(passphrase) }
    return try .passphrase(passphrase, andKeyFile: file)
  }
}
