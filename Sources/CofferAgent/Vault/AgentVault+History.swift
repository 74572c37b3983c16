package import CofferRequests
import VaultCore
import VaultUpkeep

/// The daily removal of former versions beyond the limits of the vault: a removed item is not written again, which would do so.
package struct DailyPurge: Sendable {
  /// In seconds.
  private static let period: Int64 = 86_400
  private var last: Int64?

  package init() {}

  /// Does nothing while the vault is locked, or if the last time is less than a day ago, whether it succeeded or not: damage does not go
  /// away within a minute.
  /// - Parameter fault: Called at most once a day, with the first reason for which versions stay.
  package mutating func run(in vault: AgentVault, atSecond now: Int64, fault: (KeychainError) -> Void) {
    if let last, (0..<Self.period).contains(now - last) { return }
    guard !vault.status.isLocked else { return }
    last = now
    var first: KeychainError?
    do {
      _ = try vault.use { opened in
        try opened.purgeExpired(at: Timestamp(secondsSince1970: now), damaged: { first = first ?? KeychainError($0) })
      }
    } catch {
      first = KeychainError(error)
    }
    if let first { fault(first) }
  }
}
