import CofferRequests
import VaultCore
import VaultUpkeep

extension AgentVault {
  /// Removes former versions beyond the limits of the vault: a removed item is not written again, which would do so.
  /// - Returns: False if the vault is locked, or could not be written. The next time is early enough.
  package func purgeExpired(atSecond now: Int64) -> Bool {
    guard !status.isLocked else { return false }
    return (try? use { try $0.purgeExpired(at: Timestamp(secondsSince1970: now)) }) != nil
  }
}
