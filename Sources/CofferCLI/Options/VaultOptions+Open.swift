import Glibc
import Storage
import VaultCore

extension VaultOptions {
  /// Asks at most three times where a person types; what a descriptor says is tried once.
  private static let attempts = 3

  private var passphrase: PassphraseSource {
    PassphraseSource(descriptor: passphraseDescriptor, option: "--passphrase-fd", isInputAllowed: !noInput)
  }

  /// Proves who asks, and opens the vault.
  func open(_ place: VaultPlace) throws -> Vault {
    try withCredential(for: place) { credential in
      try Vault.open(place.store, with: credential, ceiling: ceiling, anchor: place.anchor, deviceKey: try place.deviceKey())
    }
  }

  func openPlace() throws -> VaultPlace {
    try prepare()
    return try VaultPlace(opening: vault)
  }

  func open() throws -> Vault {
    try open(openPlace())
  }

  /// Runs `body` with what opens the vault, again where a person has mistyped.
  func withCredential<Result: ~Copyable>(for place: VaultPlace, _ body: (borrowing Credential) throws -> Result) throws -> Result {
    try about(place.path) {
      let kinds = Set(try Vault.inspect(place.store).slots.map(\.type))
      var attempt = 1
      while true {
        let credential = try credential(kinds, place.path)
        let isTyped = isTyped
        Hardening.hide()
        do {
          return try body(credential)
        } catch {
          guard isTyped, attempt < Self.attempts, let error = error as? VaultError, Self.isMistyped(error) else { throw error }
          try Descriptor.error.write("Wrong. Try again.\n")
        }
        attempt += 1
      }
    }
  }

  private static func isMistyped(_ error: VaultError) -> Bool {
    error.code == .wrongCredential || error.code == .recoveryKeyMalformed
  }

  /// Whether a person types what opens the vault.
  private var isTyped: Bool {
    if recoveryKeyDescriptor != nil { return false }
    if recoveryKey { return true }
    guard case .person? = try? passphrase.place() else { return false }
    return true
  }

  /// `kinds` are those that the file claims to have: enough to know what to ask for, no more.
  private func credential(_ kinds: Set<SlotType>, _ path: String) throws -> Credential {
    if let recoveryKeyDescriptor {
      return try .recoveryKey(.readingLine(.given(recoveryKeyDescriptor, by: "--recovery-key-fd")))
    }
    if recoveryKey { return try .recoveryKey(Person.ask("Recovery key: ", isAllowed: !noInput)) }
    guard let keyFile else {
      guard kinds.contains(.passphrase) else {
        throw Failure(
          .locked, "\(path): \(kinds.contains(.passphraseAndKeyFile) ? "needs its key file too" : "has no passphrase")",
          hint: kinds == [.recoveryKey] ? "--recovery-key" : "--key-file FILE")
      }
      return try .passphrase(passphrase.read("Passphrase: "))
    }
    let file = try Secret.readingFile(keyFile)
    let needsBoth = kinds.contains(.passphraseAndKeyFile) && (passphraseDescriptor != nil || !kinds.contains(.keyFile))
    return needsBoth ? .passphrase(try passphrase.read("Passphrase: "), andKeyFile: file) : try .keyFile(file)
  }

  /// What the file may make this machine spend: at most half of its memory.
  var ceiling: KDFCeiling {
    guard !allowExpensiveKDF else { return KDFCeiling(iterations: .max, memoryKiB: .max) }
    var ceiling = KDFCeiling.standard
    let half = sysconf(Int32(_SC_PHYS_PAGES)) / 2 * (sysconf(Int32(_SC_PAGESIZE)) / 1024)
    if half > 0, half < Int(ceiling.memoryKiB) { ceiling.memoryKiB = UInt32(half) }
    return ceiling
  }
}
