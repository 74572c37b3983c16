public import SecretMemory

/// A passphrase, key file or recovery key that opens a vault. Its bytes are wiped when it is released. Section 5.2 of FORMAT.md.
public struct Credential: ~Copyable, Sendable {
  /// The slots that it may open.
  public let slotType: SlotType
  /// The passphrase, or the text of a recovery key; empty if there is none. The input key, if it was derived.
  package let text: Secret
  /// The content of the key file; empty if there is none.
  package let file: Secret
  /// False for a passphrase that a later version of Unicode may normalise differently.
  private let isAssigned: Bool
  /// The salt of the slot that it opens, or that will be made with it; nil if the input key was not derived yet.
  package private(set) var salt: [UInt8]?

  /// A passphrase.
  /// - Parameters:
  ///   - text: 1 to 4,096 bytes of UTF-8 in normal form C. The module `Passphrases` normalises typed text.
  ///   - isAssigned: Whether Unicode 15.0 has assigned all of its code points. If not, it opens slots, but none is made.
  /// - Throws: `memoryNotLockable`, as all of these.
  public static func passphrase(normalized text: consuming Secret, isAssigned: Bool) throws(VaultError) -> Credential {
    Credential(slotType: .passphrase, text: text, file: try Secret(count: 0), isAssigned: isAssigned)
  }

  /// The whole content of a file: 32 bytes to 1 MiB.
  /// - Throws: `memoryNotLockable`.
  public static func keyFile(_ content: consuming Secret) throws(VaultError) -> Credential {
    Credential(slotType: .keyFile, text: try Secret(count: 0), file: content, isAssigned: true)
  }

  /// Both are needed.
  public static func passphrase(
    normalized text: consuming Secret, isAssigned: Bool, andKeyFile content: consuming Secret
  ) -> Credential {
    Credential(slotType: .passphraseAndKeyFile, text: text, file: content, isAssigned: isAssigned)
  }

  /// The text that `addRecoverySlot` gave: letters in either case, spaces and hyphens ignored.
  /// - Throws: `memoryNotLockable`.
  public static func recoveryKey(_ text: consuming Secret) throws(VaultError) -> Credential {
    Credential(slotType: .recoveryKey, text: text, file: try Secret(count: 0), isAssigned: true)
  }

  /// An input key that another process has derived. The commitment of the slot shows whether it is the right one.
  /// - Parameter key: The input key, 32 bytes.
  /// - Throws: `wrongCredential` if the key or the salt has another length; `memoryNotLockable`.
  package static func derived(_ key: consuming Secret, _ slotType: SlotType, salt: [UInt8]) throws(VaultError) -> Credential {
    guard key.count == Key.byteCount, salt.count == Argon2id.saltByteCount else { throw VaultError(.wrongCredential, "a length") }
    return Credential(slotType: slotType, text: key, file: try Secret(count: 0), isAssigned: true, salt: salt)
  }

  /// Derives the key in this process, so that another process only compares it.
  /// - Parameter salt: The salt of a slot. If nil, a new salt is made, for a new slot.
  /// - Throws: `kdfAboveCeiling`, before anything is spent; what the input key throws.
  package borrowing func derived(salt: [UInt8]?, _ kdf: KDFParameters?, ceiling: KDFCeiling) throws(VaultError) -> Credential {
    let salt = salt ?? SecretBox.randomBytes(Argon2id.saltByteCount)
    defer { Sodium.wipeStack() }
    return try .derived(inputKey(salt: salt, kdf, ceiling: ceiling).secret.duplicate(), slotType, salt: salt)
  }

  /// - Throws: `memoryNotLockable`, `outOfMemory`.
  package borrowing func duplicate() throws(VaultError) -> Credential {
    Credential(slotType: slotType, text: try text.duplicate(), file: try file.duplicate(), isAssigned: isAssigned, salt: salt)
  }

  /// Checks what can be checked without a vault, before anything is made with the credential.
  /// - Throws: `passphraseNotText`, `passphraseLength`, `keyFileLength`, `recoveryKeyMalformed`.
  package borrowing func checkForNewSlot() throws(VaultError) {
    // It was checked when it was derived.
    guard salt == nil else { return }
    if slotType.hasPassphrase { try checkPassphraseLength() }
    guard isAssigned else { throw VaultError(.passphraseNotText, "a code point that is not assigned") }
    if slotType == .keyFile || slotType == .passphraseAndKeyFile { _ = try keyFileKey() }
    if slotType == .recoveryKey { _ = try RecoveryKey.parse(text) }
  }

  /// The input key material for a slot: 32 bytes.
  /// - Parameters:
  ///   - parameters: Required if there is a passphrase.
  ///   - ceiling: nil for a slot that is being made.
  /// - Throws: `kdfAboveCeiling`, `passphraseLength`, `keyFileLength`, `recoveryKeyMalformed`, `outOfMemory`.
  borrowing func inputKey(salt: [UInt8], _ parameters: KDFParameters?, ceiling: KDFCeiling? = nil) throws(VaultError) -> Key {
    if self.salt != nil, let key = Key(try text.duplicate()) { return key }
    if let parameters { try ceiling?.check(parameters) }
    switch slotType {
    case .recoveryKey, .external: return try RecoveryKey.parse(text)
    case .keyFile: return try keyFileKey()
    case .passphrase: return try passphraseKey(salt: salt, parameters)
    case .passphraseAndKeyFile:
      let file = try keyFileKey()
      let passphrase = try passphraseKey(salt: salt, parameters)
      return try file.secret.withBytes { (file) throws(VaultError) in try passphrase.hash(file) }
    }
  }

  private borrowing func passphraseKey(salt: [UInt8], _ parameters: KDFParameters?) throws(VaultError) -> Key {
    guard let parameters else { throw VaultError(.slotMalformed, "no key derivation") }
    try checkPassphraseLength()
    return try Argon2id.hash(text, salt: salt, parameters)
  }

  private borrowing func checkPassphraseLength() throws(VaultError) {
    guard 1...4096 ~= text.count else { throw VaultError(.passphraseLength) }
  }

  private borrowing func keyFileKey() throws(VaultError) -> Key {
    guard (32...(1 << 20)).contains(file.count) else { throw VaultError(.keyFileLength, "\(file.count) bytes") }
    return try file.withBytes { (bytes) throws(VaultError) in try Key.hash(bytes) }
  }
}
