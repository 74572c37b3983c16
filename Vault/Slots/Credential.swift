/// What opens a vault. The bytes are used up by the call that they are given to, and wiped.
public enum Credential: ~Copyable {
  /// UTF-8 as it was typed, without the line's end. The core normalises it to NFC.
  case passphrase(Secret)
  /// The whole content of a file: 32 bytes to 1 MiB.
  case keyFile(Secret)
  /// Both are needed.
  case passphraseAndKeyFile(passphrase: Secret, keyFile: Secret)
  /// The text that `addRecoverySlot` gave: letters in either case, spaces and hyphens ignored.
  case recoveryKey(Secret)

  /// The slots that it may open.
  public var slotType: SlotType {
    switch self {
    case .passphrase: .passphrase
    case .keyFile: .keyFile
    case .passphraseAndKeyFile: .passphraseAndKeyFile
    case .recoveryKey: .recoveryKey
    }
  }

  /// The input key material for a slot: 32 bytes.
  /// - Parameter parameters: needed where there is a passphrase.
  /// - Throws: `passphraseNotText`, `passphraseLength`, `keyFileLength`, `recoveryKeyMalformed`, `outOfMemory`.
  borrowing func inputKey(salt: [UInt8], _ parameters: KDFParameters?) throws(VaultError) -> Key {
    switch self {
    case .passphrase(let passphrase):
      return try Self.stretch(passphrase, salt: salt, parameters)
    case .keyFile(let content):
      return try Self.digest(keyFile: content)
    case .passphraseAndKeyFile(let passphrase, let content):
      let file = try Self.digest(keyFile: content)
      let stretched = try Self.stretch(passphrase, salt: salt, parameters)
      return try file.secret.withBytes { (file) throws(VaultError) in try stretched.hash(file) }
    case .recoveryKey(let text):
      return try RecoveryKey.parse(text)
    }
  }

  private static func stretch(
    _ passphrase: borrowing Secret, salt: [UInt8], _ parameters: KDFParameters?
  ) throws(VaultError) -> Key {
    guard let parameters else { throw VaultError(.slotMalformed, "no key derivation") }
    return try Argon2id.hash(try Passphrase.normalized(passphrase), salt: salt, parameters)
  }

  private static let keyFileCounts = 32...(1 << 20)

  private static func digest(keyFile content: borrowing Secret) throws(VaultError) -> Key {
    let count = content.count
    guard keyFileCounts.contains(count) else { throw VaultError(.keyFileLength, "\(count) bytes") }
    return try content.withBytes { (bytes) throws(VaultError) in try Key.hash(unkeyed: bytes) }
  }
}
