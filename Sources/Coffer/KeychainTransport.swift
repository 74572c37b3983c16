internal import CofferRequests
internal import VaultCore

/// Carries requests about items to a vault in this process, or to the agent. Both answer the same requests by the same rules.
protocol KeychainTransport: Sendable {
  var isLocked: Bool { get throws }
  func lock() throws
  /// - Throws: `KeychainError`.
  func answer(_ request: consuming ItemRequest) throws -> Answer
  /// The changes from here on.
  func watch() -> any ChangeSource
}
