import CofferFiles
package import CofferStorage
import Glibc
package import SecretMemory
package import VaultCore
import VaultUpkeep

/// A backup that is to take the place of a vault: copied in, opened, proven and compared before anything is changed. Holds the
/// maintenance lock of the vault while it lives. Not thread-safe.
package final class Restoration {
  /// How the vault becomes that of the backup.
  package enum Way: String, Sendable {
    /// One more generation of the vault that is here, with the records of the backup: slots and history go on.
    case continuing
    /// All rows are replaced, slots and history too.
    case replacing
    /// The file that is here cannot be read: it is put aside, and the vault is made anew.
    case exchanging
    /// No vault is here.
    case creating
    /// The vault is in the state of the backup.
    case nothing
  }

  /// The effect that a restore would have.
  package struct Plan: Sendable {
    package let way: Way
    /// The generation of the vault that is here, as it says. nil if none can be read.
    package let generation: UInt64?
    /// nil if no vault can be read here.
    package let comparison: Comparison?
    /// How the backup disagrees with the last state that was seen here: it is older, or has another history.
    package let rollback: Rollback?
    /// Whether another vault is, or was, at this path.
    package let isOtherVault: Bool
    /// Why the file that is here cannot be read.
    package let damage: StorageError?

    /// The plan after the file turned out to be damaged.
    func exchanging(because damage: StorageError) -> Plan {
      Plan(
        way: .exchanging, generation: generation, comparison: nil, rollback: rollback, isOtherVault: isOtherVault, damage: damage)
    }
  }

  /// The file that is here cannot be read as a whole, which the comparison did not meet. Nothing was changed, and another plan is to be
  /// agreed to.
  package struct Unreadable: Error {
    package let plan: Plan
  }

  let file: String
  let place: RestorePlace
  private let maintenance: MaintenanceLock
  private let backup: ForeignVault
  private var opened: RestoredVault?

  /// Copies the backup in: nothing is opened where it lies.
  /// - Throws: `LifecycleError`: `isTheVault`, `hasLog`; `StorageError`: `maintenance`; all that is wrong with the file.
  package init(of file: String, at place: RestorePlace, step: Backup.Step) throws {
    self.file = file
    self.place = place
    maintenance = try MaintenanceLock(forVaultAt: place.vault)
    let name = Path.name(of: place.vault)
    UnnamedVault.leftovers(in: Path.parent(of: place.vault), remove: true) { $0 == name }
    backup = try ForeignVault(copiedFrom: file, besides: place.vault, in: place.backups, step: step)
  }

  var store: FileStore { backup.store }

  /// The kinds of the slots in the backup, not proven.
  package func slotTypes() throws -> Set<SlotType> { try backup.slotTypes() }

  /// - Throws: as `Vault.open`, anchors apart.
  package func open(with credential: borrowing Credential, ceiling: KDFCeiling, deviceKey: consuming Secret?) throws {
    opened = try RestoredVault(opening: store, with: credential, ceiling: ceiling, deviceKey: deviceKey)
  }

  /// The header that `open` has proven.
  /// - Throws: `locked` before it.
  func restored() throws -> RestoredVault {
    guard let opened else { throw VaultError(.locked) }
    return opened
  }

  package func generation() throws -> UInt64 { try restored().generation }

  package func verify(step: @escaping Backup.Step) throws -> Verification {
    let restored = try restored()
    return try store.read { try restored.verify($0, progress: step) }
  }

  /// Notes that a backup could be restored.
  package func noteDrill() throws { try Drill.note(at: place.drill) }

  // MARK: The vault that is here

  /// - Throws: what keeps the vault that is here from being looked at, damage apart; `newerFormat`, `draftFormat`.
  package func plan() throws -> Plan {
    let restored = try restored()
    let check = try store.read { try restored.check($0, anchor: place.anchors) }
    let rollback: Rollback? = if case .refused(let rollback) = check { rollback } else { nil }
    let isOtherHere = rollback?.reason.code == .anchorOtherVault
    guard try Files.status(at: place.vault) != nil else {
      let way: Way = try place.present().isEmpty ? .creating : .exchanging
      return Plan(way: way, generation: nil, comparison: nil, rollback: rollback, isOtherVault: isOtherHere, damage: nil)
    }
    do {
      return try plan(over: FileStore(at: place.vault), rollback)
    } catch let error as StorageError where Self.isDamage(error) {
      return Plan(
        way: .exchanging, generation: nil, comparison: nil, rollback: rollback, isOtherVault: isOtherHere, damage: error)
    }
  }

  private func plan(over present: FileStore, _ rollback: Rollback?) throws -> Plan {
    let restored = try restored()
    let status: VaultStatus
    do { status = try Vault.inspect(present) } catch let error as VaultError where Self.isDamage(error) {
      // No backup of it could be one. Its file is kept.
      let damage = StorageError(.storageDamaged, "\(error)")
      return Plan(
        way: .exchanging, generation: nil, comparison: nil, rollback: rollback,
        isOtherVault: rollback?.reason.code == .anchorOtherVault, damage: damage)
    }
    let isOther = status.id != restored.vault
    return try store.read { there in
      try present.read { here in
        let way: Way =
          if try here.header(0) == restored.header { .nothing } else {
            try restored.isContinued(by: here, anchor: place.anchors) ? .continuing : .replacing
          }
        return Plan(
          way: way, generation: status.generation, comparison: isOther ? nil : try Comparison(of: here, with: there),
          rollback: rollback, isOtherVault: isOther, damage: nil)
      }
    }
  }

  /// Whether its header or its slots say nothing, as opposed to those of a later version.
  private static func isDamage(_ error: VaultError) -> Bool {
    switch error.code {
    case .headerMalformed, .slotMalformed, .kdfBelowFloor, .columnMismatch: true
    default: false
    }
  }

  /// Whether the file that is here is lost, as opposed to one that cannot be read at the moment, or by this version.
  static func isDamage(_ error: StorageError) -> Bool {
    switch error.code {
    case .notAVault, .schemaAltered, .columnMismatch, .storageDamaged, .truncated: true
    default: false
    }
  }
}
