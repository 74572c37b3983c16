import ArgumentParser
import CofferConsole
import CofferLifecycle
import SecretMemory
import VaultCore

/// The credential of the other vault.
struct ForeignVaultOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Open the other vault with this key file.", valueName: "file"), completion: .file())
  var fromKeyFile: String?

  @Option(
    name: .customLong("from-passphrase-fd"),
    help: ArgumentHelp("Read the other vault's passphrase from this open descriptor.", valueName: "n"))
  var fromPassphraseDescriptor: Int32?

  @Flag(help: "Ask for the other vault's recovery key.")
  var fromRecoveryKey = false

  @Option(
    name: .customLong("from-recovery-key-fd"),
    help: ArgumentHelp("Read the other vault's recovery key from this open descriptor.", valueName: "n"))
  var fromRecoveryKeyDescriptor: Int32?

  /// Before anything is opened or read.
  /// - Throws: usage.
  func check(beside vault: VaultOptions) throws(Failure) {
    let ways = [fromRecoveryKey, fromRecoveryKeyDescriptor != nil, fromKeyFile != nil || fromPassphraseDescriptor != nil]
    guard ways.count(where: \.self) <= 1 else {
      throw .usage(
        "options: a recovery key opens the other vault alone",
        hint: "leave out --from-key-file, --from-passphrase-fd or --from-recovery-key")
    }
    if let number = fromPassphraseDescriptor { _ = try Descriptor.given(number, by: "--from-passphrase-fd") }
    if let number = fromRecoveryKeyDescriptor { _ = try Descriptor.given(number, by: "--from-recovery-key-fd") }
    let all = [
      fromPassphraseDescriptor, fromRecoveryKeyDescriptor, vault.passphraseDescriptor, vault.recoveryKeyDescriptor,
    ].compactMap(\.self)
    guard Set(all).count == all.count else {
      throw .usage("options: one descriptor has one passphrase or recovery key", hint: "for the other vault: 3 3<FILE")
    }
  }

  /// Proves who asks, and opens it.
  /// - Parameter file: Its name, for people.
  func open(_ foreign: ForeignVault, named file: String, _ keyFile: Descriptor?, beside vault: VaultOptions) throws -> Vault {
    var options = try VaultOptions.parse([])
    (options.passphraseDescriptor, options.recoveryKeyDescriptor) = (fromPassphraseDescriptor, fromRecoveryKeyDescriptor)
    (options.recoveryKey, options.noInput) = (fromRecoveryKey, vault.noInput)
    options.allowExpensiveKDF = vault.allowExpensiveKDF
    let ceiling = options.ceiling
    do {
      let subject = " of \(file.escapingControls())"
      return try options.withCredential(foreign.slotTypes(), file, keyFile, asking: subject) { credential in
        try Vault.open(foreign.store, with: credential, ceiling: ceiling, isCopy: true)
      }
    } catch {
      let failure = Failure(error, about: file)
      guard failure.status == .locked else { throw failure.naming(vault: file) }
      let names = failure.message.hasPrefix("\(file): ")
      throw Failure(
        .locked, names ? failure.message : "\(file): \(failure.message)",
        hint: "--from-key-file FILE, --from-passphrase-fd N, --from-recovery-key, or a terminal")
    }
  }
}
