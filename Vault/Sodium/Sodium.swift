import CSodium

/// libsodium itself.
enum Sodium {
  /// More stack than a call takes that leaves something secret there, in bytes.
  static let stackByteCount = 2048

  private static let result = sodium_init()

  /// Starts libsodium once for the process. Everything in this folder may be called afterwards, from any thread.
  /// - Throws: `randomNotAvailable`.
  static func start() throws(VaultError) {
    guard result >= 0 else { throw VaultError(.randomNotAvailable) }
  }
}
