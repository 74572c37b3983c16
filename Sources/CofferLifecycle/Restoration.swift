import CofferFiles
package import CofferStorage
import Glibc
import SecretMemory
package import VaultCore
import VaultUpkeep

/// A backup that is to take the place of a vault: copied in, opened, proven and compared before anything is changed. Not thread-safe.
package final class Restoration {
  let place: RestorePlace
  let backup: ForeignVault
  /// The maintenance lock, if the caller has taken it.
  let lock: MaintenanceLock?
  let excluding: Exclusion?
  private var opened: RestoredVault?
  /// The plan that was made last, and the state for which it was made.
  var planned: (plan: Plan, state: PresentState)?

  /// - Parameters:
  ///   - lock: The maintenance lock of the vault, which is held while this object lives; nil: `carryOut` takes it.
  ///   - excluding: Keeps programs from the vault while it is changed; nil: an agent must not have it open, unless the vault goes on.
  package init(
    of backup: ForeignVault, at place: RestorePlace, holding lock: MaintenanceLock?, excluding: Exclusion? = nil
  ) {
    (self.backup, self.place, self.lock, self.excluding) = (backup, place, lock, excluding)
    let name = Path.name(of: place.vault)
    UnnamedVault.leftovers(in: Path.parent(of: place.vault), remove: true) { $0 == name }
  }

  var store: FileStore { backup.store }

  /// The header and slots of the backup, not proven.
  package func status() throws -> VaultStatus { try Vault.inspect(store) }

  /// - Throws: as `Vault.open`, anchors apart.
  package func open(with credential: borrowing Credential, ceiling: KDFCeiling) throws {
    let backup = try RestoredVault(opening: store, with: credential, ceiling: ceiling)
    try place.places.deviceKeys(of: backup.keys.vault).open(backup, in: store)
    opened = backup
  }

  /// The header that `open` has proven.
  /// - Throws: `locked` before it.
  func restored() throws -> RestoredVault {
    guard let opened else { throw VaultError(.locked) }
    return opened
  }

  /// Whether the backup has the identifier of another vault than the one that is here. Neither is proven. Returns false if one of them
  /// cannot be read.
  package func isNamedOtherwise() -> Bool {
    guard let there = try? status().id, let here = try? Vault.inspect(FileStore(at: place.vault)).id else { return false }
    return there != here
  }

  package func generation() throws -> UInt64 { try restored().generation }

  package func verify(step: @escaping Backup.Step) throws -> Verification {
    let restored = try restored()
    return try store.read { try restored.verify($0, progress: step) }
  }

  func exclusion(_ way: Way, _ body: () throws -> Outcome) throws -> Outcome {
    if let excluding { return try excluding(way, body) }
    let agent = Self.excludesAgent(way) ? try takeAgentLock() : nil
    defer { withExtendedLifetime(agent) {} }
    return try body()
  }

  /// Notes that a backup could be restored.
  package func noteDrill() throws { try Drill.note(at: place.drill) }
}
