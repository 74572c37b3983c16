import ArgumentParser
import CofferConsole
import SecretMemory

/// Which vault, and how to get into it.
struct VaultOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The vault's file.", valueName: "path"), completion: .file())
  var vault: String?

  @Flag(help: "The vault that the system's agent keeps for this user.")
  var system = false

  @Option(help: ArgumentHelp("Open with this key file.", valueName: "file"), completion: .file())
  var keyFile: String?

  @Option(
    name: .customLong("passphrase-fd"), help: ArgumentHelp("Read the passphrase from this open descriptor.", valueName: "n"))
  var passphraseDescriptor: Int32?

  @Flag(help: "Ask for the recovery key.")
  var recoveryKey = false

  @Option(
    name: .customLong("recovery-key-fd"), help: ArgumentHelp("Read the recovery key from this open descriptor.", valueName: "n"))
  var recoveryKeyDescriptor: Int32?

  @Flag(help: "Never ask for anything.")
  var noInput = false

  @Flag(help: "Continue if memory cannot be locked; secrets may be swapped out then.")
  var allowSwap = false

  @Flag(name: .customLong("allow-expensive-kdf"), help: "Accept any time and memory that the vault's file demands for unlocking.")
  var allowExpensiveKDF = false

  /// Checks that must pass before a secret is read.
  func prepare() throws(Failure) {
    if allowSwap { LockedMemory.policy = .allowSwap }
    guard [recoveryKey, recoveryKeyDescriptor != nil, keyFile != nil || passphraseDescriptor != nil].count(where: \.self) <= 1
    else {
      throw .usage(
        "options: a recovery key opens the vault alone", hint: "leave out --key-file, --passphrase-fd or --recovery-key")
    }
    if passphraseDescriptor == 0 || recoveryKeyDescriptor == 0, !Descriptor.input.isReadable {
      throw .usage("descriptor 0: standard input is closed")
    }
  }

  /// Whether standard input is spoken for, so that it cannot carry the secret too.
  var takesStandardInput: Bool {
    passphraseDescriptor == 0 || recoveryKeyDescriptor == 0
  }
}
