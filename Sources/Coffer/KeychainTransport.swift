internal import CofferWire
internal import VaultCore

/// How a keychain gets its answers: from a vault in this process, or from the agent. What is asked, and by which rules it is answered, is
/// the same.
protocol KeychainTransport: Sendable {
  var isLocked: Bool { get throws }
  func lock() throws
  /// - Throws: `KeychainError`.
  func answer(_ call: consuming Call) throws -> Answer
  /// What happens from here on.
  func watch() -> any ChangeSource
}
