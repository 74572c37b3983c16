import CofferFiles
package import CofferStorage
package import SecretMemory
package import VaultCore
import VaultUpkeep

extension Restoration {
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
    /// The vault is in the state of the backup, and sound.
    case nothing
  }

  /// The effect that a restore would have. A value, which an agent sends to the command that shows it.
  package struct Plan: Equatable, Sendable {
    package let way: Way
    /// The generation of the vault that is here, as it says. nil if none can be read.
    package var generation: UInt64?
    /// nil if no vault can be read here.
    package var comparison: Comparison?
    /// How the backup disagrees with the last state that was seen here: it is older, or has another history.
    package var rollback: VaultError.Code?
    /// Whether another vault is, or was, at this path.
    package let isOtherVault: Bool
    /// Whether the master key of the vault that is here is a later one.
    package var hasOlderKeys = false
    /// Why the file that is here cannot be read.
    package var damage: StorageError?
    /// How much is wrong with a vault that is here and has the header of the backup. Another one is not verified: all of its records are
    /// replaced anyway.
    package var problemCount: UInt64 = 0
    /// The limits of the policy that the backup would change; none if the vault that is here cannot be proven with its keys.
    package var limits: [LimitChange] = []

    package init(
      way: Way, generation: UInt64? = nil, comparison: Comparison? = nil, rollback: VaultError.Code? = nil, isOtherVault: Bool,
      damage: StorageError? = nil, problemCount: UInt64 = 0
    ) {
      (self.way, self.generation, self.comparison, self.rollback) = (way, generation, comparison, rollback)
      (self.isOtherVault, self.damage, self.problemCount) = (isOtherVault, damage, problemCount)
    }
  }

  /// A limit of the policy whose value is another one in the backup.
  package struct LimitChange: Equatable, Sendable {
    package let name: Limits.Name
    package let here: UInt64
    package let there: UInt64

    package init(_ name: Limits.Name, here: UInt64, there: UInt64) { (self.name, self.here, self.there) = (name, here, there) }

    static func all(from here: Limits, to there: Limits) -> [LimitChange] {
      Limits.Name.allCases.filter { here.value($0) != there.value($0) }
        .map { LimitChange($0, here: here.value($0), there: there.value($0)) }
    }
  }

  /// The plan does not hold any more: the vault was changed after it, or cannot be read as a whole, which the comparison did not meet.
  /// Nothing was changed.
  struct Outdated: Error {
    /// nil: `plan` makes another.
    var plan: Plan?
  }

  /// The state of the vault for which a plan was made.
  enum PresentState: Equatable {
    /// The first 256 bytes of `hdr`: each commit changes them.
    case vault(header: [UInt8])
    /// The files of a vault that is not there, or cannot be read.
    case files([String: FileStatus])
  }

  /// Compares the backup with the vault that is here.
  /// - Throws: what keeps the vault that is here from being looked at, damage apart; `newerFormat`; the error of `step`.
  package func plan(step: @escaping Backup.Step) throws -> Plan {
    let restored = try restored()
    let check = try store.read { try restored.check($0, anchor: place.anchors) }
    let rollback: VaultError.Code? = if case .refused(let rollback) = check { rollback.reason.code } else { nil }
    let made = try compare(rollback, step)
    planned = made
    return made.plan
  }

  private func compare(
    _ rollback: VaultError.Code?, _ step: @escaping Backup.Step
  ) throws -> (plan: Plan, state: PresentState) {
    let isOtherHere = rollback == .anchorOtherVault
    func unreadable(_ way: Way, _ damage: StorageError?) throws -> (plan: Plan, state: PresentState) {
      (Plan(way: way, rollback: rollback, isOtherVault: isOtherHere, damage: damage), try fileState())
    }
    guard try Files.status(at: place.vault) != nil else {
      return try unreadable(place.present().isEmpty ? .creating : .exchanging, nil)
    }
    do {
      if let damage = try damageOfHeader() { return try unreadable(.exchanging, damage) }
      return try compare(with: FileStore(at: place.vault), rollback, step)
    } catch let error as StorageError where Self.isDamage(error) {
      return try unreadable(.exchanging, error)
    } catch let error as VaultError where error.code == .slotsForged {
      // The ring of former headers cannot be read, by which a vault would go on.
      return try unreadable(.exchanging, StorageError(.storageDamaged, "\(error)"))
    }
  }

  /// The reason why no backup of the vault that is here could be one, so that its file is kept. When this returns the file is closed, and
  /// its log, of which `fileState` takes note, is gone.
  private func damageOfHeader() throws -> StorageError? {
    do { _ = try Vault.inspect(FileStore(at: place.vault)) } catch let error as VaultError where Self.isDamage(error) {
      return StorageError(.storageDamaged, "\(error)")
    }
    return nil
  }

  private func compare(
    with present: FileStore, _ rollback: VaultError.Code?, _ step: @escaping Backup.Step
  ) throws -> (plan: Plan, state: PresentState) {
    let restored = try restored()
    return try store.read { there in
      try present.read { here in
        let sealed = try SealedHeader(reading: here)
        let isOther = sealed.header.vault != restored.keys.vault
        let hasSameHeader = sealed.bytes == restored.header
        let problemCount = try hasSameHeader ? problemCount(of: here, step) : 0
        let way: Way =
          if hasSameHeader && problemCount == 0 { .nothing } else {
            try place.anchors.isHome(of: restored.keys.vault) && restored.isContinued(by: here, anchor: place.anchors)
              ? .continuing : .replacing
          }
        var plan = Plan(
          way: way, generation: sealed.header.generation, comparison: isOther ? nil : try Comparison(of: here, with: there),
          rollback: rollback, isOtherVault: isOther, problemCount: problemCount)
        plan.hasOlderKeys = try !isOther && SealedHeader(reading: there).header.masterEpoch < sealed.header.masterEpoch
        if way != .nothing, let limits = try? restored.limits(of: here) {
          plan.limits = LimitChange.all(from: limits, to: try restored.limits(of: there))
        }
        return (plan, .vault(header: sealed.bytes))
      }
    }
  }

  /// The header proves the rows, and does not say whether they are there.
  private func problemCount(of here: any Rows, _ step: @escaping Backup.Step) throws -> UInt64 {
    do { return try restored().verify(here, progress: step).problemCount } catch VaultError.Code.slotsForged {
      return 1
    }
  }

  /// SQLite may remove the index of the log at any time.
  func fileState() throws -> PresentState {
    var found: [String: FileStatus] = [:]
    for file in place.files where !file.hasSuffix("-shm") { found[file] = try Files.status(at: file) }
    return .files(found)
  }

  /// Plans to put the file aside, after it turned out to be damaged.
  func planExchange(because damage: StorageError) throws -> Plan {
    guard let previous = planned?.plan else { throw Outdated() }
    let plan = Plan(
      way: .exchanging, generation: previous.generation, rollback: previous.rollback, isOtherVault: previous.isOtherVault,
      damage: damage)
    planned = (plan, try fileState())
    return plan
  }

  /// Whether its header or its slots cannot be read. A slot of an unknown type may be damage, or of a later version: the file is kept.
  private static func isDamage(_ error: VaultError) -> Bool {
    switch error.code {
    case .headerMalformed, .slotMalformed, .unknownSlotType, .kdfBelowFloor, .columnMismatch: true
    default: false
    }
  }

  /// Whether the file that is here is lost, as opposed to one that cannot be read at the moment, or by this version.
  static func isDamage(_ error: StorageError) -> Bool {
    switch error.code {
    case .notAVault, .schemaAltered, .columnMismatch, .storageDamaged, .truncated: true
    // A draft, of which no backup can be made. Its file is kept.
    case .migrationNeeded: true
    default: false
    }
  }
}
