import CSodium

/// libsodium itself.
package enum Sodium {
  private static let result = sodium_init()

  /// Starts libsodium once for the process. Everything that calls it may be called afterwards, from any thread.
  /// - Throws: `randomNotAvailable`.
  package static func start() throws(VaultError) {
    guard result >= 0 else { throw VaultError(.randomNotAvailable) }
  }
}
