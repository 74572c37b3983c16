internal import Synchronization

extension UserDefaults {
  /// How this process treats a value that looks like a secret: a token, a password, a private key. Settings are plain files,
  /// which backups and bug reports copy.
  public enum SecretPolicy: Int, Sendable {
    /// Store it. The default.
    case allow
    /// Store it, and log the key and the rule, never the value.
    case warn
    /// Leave the setting as it is. `set` logs the reason; `store(_:forKey:)`, `seed(_:)` and setting a whole domain fail with
    /// `looksLikeSecret`.
    case refuse
  }

  /// The policy for all settings that this process sets from now on. Reading stored values, other processes, registered defaults
  /// and migrations are not affected. It guards against accidents: an encoded value is not recognised. Checking a short value
  /// takes 1 to 2 µs.
  ///
  /// Thread-safe.
  public static var secretPolicy: SecretPolicy {
    get { SecretPolicy(rawValue: currentSecretPolicy.load(ordering: .relaxed)) ?? .refuse }
    set { currentSecretPolicy.store(newValue.rawValue, ordering: .relaxed) }
  }

  private static let currentSecretPolicy = Atomic(SecretPolicy.allow.rawValue)
}
