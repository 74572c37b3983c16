import CofferConsole
import CofferFiles
import CofferRequests
import CofferStorage
import Glibc
import Passphrases
import SecretMemory
import VaultCore

/// The credentials for one vault, one after the other. A person is asked again after a slip, three times in all. A descriptor is read
/// once.
struct CredentialAttempts: ~Copyable {
  private static let maximumCount = 3

  private let options: VaultOptions
  private let kinds: Set<SlotType>
  private let name: String
  private let subject: String
  /// Read once, also if a passphrase is tried again: what comes from a pipe is gone then.
  private let file: Secret?
  private var count = 1
  private var isTyped = false
  private var problem: String?

  /// - Parameters:
  ///   - kinds: The kinds of the slots, as the file claims: enough to know what to ask for, no more.
  ///   - name: The name of the vault, for people.
  ///   - keyFile: The file of `--key-file`.
  ///   - subject: A part of each question, such as ` of FILE`, if there are two vaults.
  init(
    _ options: VaultOptions, _ kinds: Set<SlotType>, _ name: String, _ keyFile: Descriptor?, asking subject: String = ""
  ) throws {
    (self.options, self.kinds, self.name, self.subject) = (options, kinds, name, subject)
    let keyFile = try keyFile ?? Self.serviceKeyFile(options, kinds)
    Hardening.hide()
    file = try keyFile.map { try Secret.readingFile($0) }
  }

  mutating func next() throws -> Credential {
    isTyped = false
    let credential = try credential()
    // The same slip is the same error, whatever ways in the vault has.
    if credential.slotType == .recoveryKey { try credential.checkForNewSlot() }
    if isTyped { HiddenTerminal.show("Checking…") }
    return credential
  }

  /// Called if `next` or the use of its result has failed.
  /// - Throws: the error, if there is no other credential.
  mutating func failed(_ error: any Error) throws {
    guard isTyped, count < Self.maximumCount, let reason = reasonToAskAgain(error) else { throw error }
    HiddenTerminal.clearNotice()
    Descriptor.error.note("\(reason)\n")
    problem = reason
    count += 1
  }

  /// A key file of the service manager's, if the vault may be opened by one and the caller has named nothing else.
  private static func serviceKeyFile(_ options: VaultOptions, _ kinds: Set<SlotType>) throws -> Descriptor? {
    guard kinds.contains(.keyFile), options.passphraseDescriptor == nil, options.recoveryKeyDescriptor == nil,
      !options.recoveryKey,
      let path = try ServiceCredentials.path(of: ServiceCredentials.keyFile, environment: { Environment[$0] })
    else { return nil }
    return try .open(path)
  }

  private func reasonToAskAgain(_ error: any Error) -> String? {
    if error is EmptyPassphrase { return Person.empty }
    var code = (error as? VaultError)?.code
    // An agent's refusal names the vault's reason.
    if let refusal = error as? KeychainError, case .vault(let cause) = refusal.cause { code = cause }
    switch code {
    case .wrongCredential?, .recoveryKeyMalformed?:
      return subject.isEmpty ? "Wrong. Try again." : "\(name.escapingControls()): wrong. Try again."
    case .passphraseLength?: return "Too long. Try again."
    default: return nil
    }
  }

  private mutating func credential() throws -> Credential {
    if let descriptor = options.recoveryKeyDescriptor {
      return try .recoveryKey(.readingLine(.given(descriptor, by: "--recovery-key-fd")))
    }
    if options.recoveryKey {
      isTyped = true
      return try .recoveryKey(Person.ask("Recovery key\(subject): ", isAllowed: !options.noInput, error: problem))
    }
    guard let file = try file.copy() else {
      guard kinds.contains(.passphrase) else {
        throw Failure(
          .locked, "\(name): \(kinds.contains(.passphraseAndKeyFile) ? "needs its key file too" : "has no passphrase")",
          hint: kinds == [.recoveryKey] ? "--recovery-key" : "--key-file FILE")
      }
      return try .passphrase(passphrase())
    }
    let needsBoth =
      kinds.contains(.passphraseAndKeyFile) && (options.passphraseDescriptor != nil || !kinds.contains(.keyFile))
    return try needsBoth ? .passphrase(passphrase(), andKeyFile: file) : .keyFile(file)
  }

  private mutating func passphrase() throws -> Secret {
    let source = PassphraseSource(
      descriptor: options.passphraseDescriptor, option: "--passphrase-fd", isInputAllowed: !options.noInput)
    return try source.read("Passphrase\(subject): ", &isTyped, error: problem)
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
