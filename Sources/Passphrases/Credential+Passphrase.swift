public import SecretMemory
public import VaultCore

/// Passphrases as they are typed: UTF-8 without the end of the line, normalised to NFC here, so that one text is one key on every
/// keyboard and terminal. Holds no state; may be called from any thread.
extension Credential {
  /// - Throws: `passphraseNotText` for what is not UTF-8; `passphraseLength` above 4,096 bytes; `memoryNotLockable`, `outOfMemory`. The
  ///   empty passphrase is refused when it is used.
  public static func passphrase(_ typed: consuming Secret) throws(VaultError) -> Credential {
    let text = try NormalizedText(composing: typed)
    let isAssigned = text.isAssigned
    return try .passphrase(normalized: text.bytes, isAssigned: isAssigned)
  }

  /// For a slot that needs both.
  /// - Throws: as for a passphrase alone.
  public static func passphrase(_ typed: consuming Secret, andKeyFile content: consuming Secret) throws(VaultError) -> Credential
  {
    let text = try NormalizedText(composing: typed)
    let isAssigned = text.isAssigned
    return .passphrase(normalized: text.bytes, isAssigned: isAssigned, andKeyFile: content)
  }
}
