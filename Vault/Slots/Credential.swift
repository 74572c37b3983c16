/// What opens a vault. Its bytes are wiped when its owner lets go of it.
public struct Credential: ~Copyable, Sendable {
  /// The slots that it may open.
  public let slotType: SlotType
  /// The passphrase, or the text of a recovery key; empty where there is none.
  package let text: Secret
  /// The content of the key file; empty where there is none.
  package let file: Secret

  private init(_ slotType: SlotType, text: consuming Secret, file: consuming Secret) {
    self.slotType = slotType
    self.text = text
    self.file = file
  }

  /// UTF-8 as it was typed, without the line's end. The core normalises it to NFC.
  /// - Throws: `memoryNotLockable`, as all of these.
  public static func passphrase(_ passphrase: consuming Secret) throws(VaultError) -> Credential {
    Credential(.passphrase, text: passphrase, file: try Secret(count: 0))
  }

  /// The whole content of a file: 32 bytes to 1 MiB.
  public static func keyFile(_ content: consuming Secret) throws(VaultError) -> Credential {
    Credential(.keyFile, text: try Secret(count: 0), file: content)
  }

  /// Both are needed.
  public static func passphrase(_ passphrase: consuming Secret, andKeyFile content: consuming Secret) -> Credential {
    Credential(.passphraseAndKeyFile, text: passphrase, file: content)
  }

  /// The text that `addRecoverySlot` gave: letters in either case, spaces and hyphens ignored.
  public static func recoveryKey(_ text: consuming Secret) throws(VaultError) -> Credential {
    Credential(.recoveryKey, text: text, file: try Secret(count: 0))
  }

  /// - Throws: `memoryNotLockable`, `outOfMemory`.
  package borrowing func duplicate() throws(VaultError) -> Credential {
    Credential(slotType, text: try text.duplicate(), file: try file.duplicate())
  }

  /// Checks what can be checked without a vault, before anything is made with the credential.
  /// - Throws: `passphraseNotText`, `passphraseLength`, `keyFileLength`, `recoveryKeyMalformed`.
  package borrowing func checkForNewSlot() throws(VaultError) {
    if slotType.hasPassphrase { _ = try Passphrase.normalized(text, isNew: true) }
    if slotType == .keyFile || slotType == .passphraseAndKeyFile { _ = try keyFileKey() }
    if slotType == .recoveryKey { _ = try RecoveryKey.parse(text) }
  }

  /// The input key material for a slot: 32 bytes.
  /// - Parameter parameters: needed where there is a passphrase.
  /// - Throws: `passphraseNotText`, `passphraseLength`, `keyFileLength`, `recoveryKeyMalformed`, `outOfMemory`.
  borrowing func inputKey(salt: [UInt8], _ parameters: KDFParameters?) throws(VaultError) -> Key {
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
    return try Argon2id.hash(try Passphrase.normalized(text), salt: salt, parameters)
  }

  private borrowing func keyFileKey() throws(VaultError) -> Key {
    guard (32...(1 << 20)).contains(file.count) else { throw VaultError(.keyFileLength, "\(file.count) bytes") }
    return try file.withBytes { (bytes) throws(VaultError) in try Key.hash(unkeyed: bytes) }
  }
}
