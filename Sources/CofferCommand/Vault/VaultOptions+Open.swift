import CofferConsole
import CofferFiles
import CofferRequests
import CofferStorage
import Glibc
import Passphrases
import SecretMemory
import VaultCore

extension VaultOptions {
  /// Asks at most three times where a person types; what a descriptor says is tried once.
  private static let attempts = 3
  private static let wrong = "Wrong. Try again."

  private var passphrase: PassphraseSource {
    PassphraseSource(descriptor: passphraseDescriptor, option: "--passphrase-fd", isInputAllowed: !noInput)
  }

  /// Proves who asks, and opens the vault.
  /// - Parameter isCopy: see `Vault.open`.
  func open(_ place: VaultPlace, isCopy: Bool = false) throws -> Vault {
    try withCredential(for: place) { try open(place, with: $0, isCopy: isCopy) }
  }

  func open(_ place: VaultPlace, with credential: borrowing Credential, isCopy: Bool = false) throws -> Vault {
    let vault = try Vault.open(
      place.store, with: credential, ceiling: ceiling, anchor: place.anchor, deviceKey: try place.deviceKey(), isCopy: isCopy)
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
      return try withCredential(kinds, place.path, place.keyFile, body)
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
    let keyFile = try keyFile ?? serviceKeyFile(kinds)
    Hardening.hide()
    // Once, also when a passphrase is tried again: what comes from a pipe is gone then.
    let file = try keyFile.map { try Secret.readingFile($0) }
    var count = 1
    var problem: String?
    while true {
      var isTyped = false
      do {
        return try attempt(kinds, name, subject, file, &isTyped, problem, body)
      } catch {
        guard isTyped, count < Self.attempts, let reason = Self.reasonToAskAgain(error) else { throw error }
        Descriptor.error.note("\(reason)\n")
        problem = reason
      }
      count += 1
    }
  }

  private func attempt<Result: ~Copyable>(
    _ kinds: Set<SlotType>, _ name: String, _ subject: String, _ file: borrowing Secret?, _ isTyped: inout Bool,
    _ problem: String?, _ body: (borrowing Credential) throws -> Result
  ) throws -> Result {
    let credential = try credential(kinds, file, name, subject, &isTyped, error: problem)
    // The same slip is the same error, whatever ways in the vault has.
    if credential.slotType == .recoveryKey { try credential.checkForNewSlot() }
    if isTyped { HiddenTerminal.show("Checking…") }
    defer { HiddenTerminal.clearNotice() }
    return try body(credential)
  }

  /// A key file of the service manager's, where the vault may be opened by one and the caller has named nothing else.
  private func serviceKeyFile(_ kinds: Set<SlotType>) throws -> Descriptor? {
    guard kinds.contains(.keyFile), passphraseDescriptor == nil, recoveryKeyDescriptor == nil, !recoveryKey,
      let path = try ServiceCredentials.path(of: ServiceCredentials.keyFile, environment: { Environment[$0] })
    else { return nil }
    return try .open(path)
  }

  private static func reasonToAskAgain(_ error: any Error) -> String? {
    if error is EmptyPassphrase { return Person.empty }
    var code = (error as? VaultError)?.code
    // An agent's refusal names the vault's reason.
    if let refusal = error as? KeychainError, case .vault(let cause) = refusal.cause { code = cause }
    switch code {
    case .wrongCredential?, .recoveryKeyMalformed?: return wrong
    case .passphraseLength?: return "Too long. Try again."
    default: return nil
    }
  }

  /// - Parameters:
  ///   - kinds: those that the file claims to have: enough to know what to ask for, no more.
  ///   - isTyped: becomes true where a person has typed it, and may mistype.
  ///   - error: why it is asked for again.
  private func credential(
    _ kinds: Set<SlotType>, _ file: borrowing Secret?, _ path: String, _ subject: String, _ isTyped: inout Bool, error: String?
  ) throws -> Credential {
    if let recoveryKeyDescriptor {
      return try .recoveryKey(.readingLine(.given(recoveryKeyDescriptor, by: "--recovery-key-fd")))
    }
    if recoveryKey {
      isTyped = true
      return try .recoveryKey(Person.ask("Recovery key\(subject): ", isAllowed: !noInput, error: error))
    }
    guard let file = try file.copy() else {
      guard kinds.contains(.passphrase) else {
        throw Failure(
          .locked, "\(path): \(kinds.contains(.passphraseAndKeyFile) ? "needs its key file too" : "has no passphrase")",
          hint: kinds == [.recoveryKey] ? "--recovery-key" : "--key-file FILE")
      }
      return try .passphrase(passphrase.read("Passphrase\(subject): ", &isTyped, error: error))
    }
    let needsBoth = kinds.contains(.passphraseAndKeyFile) && (passphraseDescriptor != nil || !kinds.contains(.keyFile))
    return needsBoth
      ? try .passphrase(passphrase.read("Passphrase\(subject): ", &isTyped, error: error), andKeyFile: file) : try .keyFile(file)
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

extension Secret? {
  fileprivate borrowing func copy() throws -> Secret? {
    switch self {
    case .some(let secret): try secret.duplicate()
    case .none: nil
    }
  }
}
