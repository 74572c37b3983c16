import CofferConsole
import CofferFiles
import CofferRequests
import CofferStorage
import Glibc
import Passphrases
import SecretMemory
import VaultCore

extension VaultOptions {
  /// Proves who asks, and opens the vault.
  /// - Parameter isCopy: see `Vault.open`.
  func open(_ place: VaultPlace, isCopy: Bool = false) throws -> Vault {
    try withCredential(for: place) { try open(place, with: $0, isCopy: isCopy) }
  }

  func open(_ place: VaultPlace, with credential: borrowing Credential, isCopy: Bool = false) throws -> Vault {
    let vault = try Vault.open(place.store, with: credential, ceiling: ceiling, anchor: place.anchor, isCopy: isCopy)
    try place.openDeviceKey(of: vault)
    if case .tooFarBehind = vault.rollbackCheck {
      Descriptor.error.note(
        "coffer: \(place.path.escapingControls()): too many changes elsewhere to show that it continues\n")
    }
    return vault
  }

  /// Opens the files that the options name. After all others of the caller, `Hardening.hide()` may follow.
  func openPlace() throws -> VaultPlace {
    try prepare()
    try checkIsFile()
    var place = try VaultPlace(opening: vault)
    place.keyFile = try keyFile.map { try .openKeyFile($0) }
    return place
  }

  func open() throws -> Vault {
    try open(openPlace())
  }

  /// Runs `body` with what opens the vault, again where a person has mistyped.
  func withCredential<Result: ~Copyable>(for place: VaultPlace, _ body: (borrowing Credential) throws -> Result) throws -> Result
  {
    try about(place.path) {
      let kinds = Set(try Vault.inspect(place.store).slots.map(\.type))
      do { return try withCredential(kinds, place.path, place.keyFile, body) } catch { throw place.naming(error) }
    }
  }

  /// - Parameters:
  ///   - kinds: The kinds of the slots of the vault.
  ///   - name: The name of the vault, for people.
  ///   - keyFile: The file of `--key-file`.
  ///   - subject: A part of each question, such as ` of FILE`, if there are two vaults.
  func withCredential<Result: ~Copyable>(
    _ kinds: Set<SlotType>, _ name: String, _ keyFile: Descriptor?, asking subject: String = "",
    _ body: (borrowing Credential) throws -> Result
  ) throws -> Result {
    var attempts = try CredentialAttempts(self, kinds, name, keyFile, asking: subject)
    while true {
      defer { HiddenTerminal.clearNotice() }
      do { return try body(attempts.next()) } catch { try attempts.failed(error) }
    }
  }

  /// The limit for the memory that a slot of the file may require: half of the machine's memory.
  var ceiling: KDFCeiling {
    allowExpensiveKDF ? KDFCeiling(iterations: .max, memoryKiB: .max) : .ofThisMachine
  }
}

extension Vault {
  /// Called at the end of a command. The command is done by then, so a state that cannot be recorded is a warning.
  consuming func finish() {
    do { try close() } catch { Self.noteUnrecorded(error) }
  }

  static func noteUnrecorded(_ error: any Error) {
    Descriptor.error.note(
      "coffer: warning: the state of the vault was not recorded: \(Failure(error).message.escapingControls())\n")
  }
}
