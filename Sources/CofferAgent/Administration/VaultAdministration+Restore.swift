import CofferFiles
import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore

extension VaultAdministration {
  /// The limit of credentials for one backup: three that a person types, for each of the slots.
  private static let maximumCredentials = 3 * SlotDescription.indices.count

  /// A restore decides which secrets the user's programs read. So the owner proves a credential of the vault that is here, which has
  /// to open. Root needs none, because root can replace the file; each needs one that opens the backup. No lock is held before the answer to
  /// the plan, and the proof is repeated after it.
  /// - Returns: the findings, and the outcome unless it is a trial.
  /// - Throws: `UnsoundVault` for the backup; `missingEntitlement`; as `ForeignVault`, `Restoration`.
  func restore(
    hasFile: Bool, isTrial: Bool, by proof: consuming Credential?, _ session: UpkeepSession, _ allowed: () throws -> Void
  ) throws -> [Attributes] {
    let proof = Proof(proof)
    try checkMayRestore(proof.credential, isRoot: session.isRoot)
    try allowed()
    let place = try RestorePlace(places, vaultAt: nil)
    let backup = try hasFile ? staged(at: place, session) : newest(at: place, session)
    let vault = vault
    let restoration = Restoration(
      of: backup, at: place, holding: nil,
      excluding: { way, change in
        try vault.withoutClients(closing: Restoration.excludesAgent(way)) {
          // A person may have taken long to agree. By now the vault may have new keys, because this credential was leaked.
          try self.checkMayRestore(proof.credential, isRoot: session.isRoot)
          return try change()
        }
      })
    try open(restoration, session)
    try session.begin("checking")
    let result = try restoration.verify(step: session.step)
    let check = VaultCheck(result)
    guard result.isIntact else { throw UnsoundVault(check) }
    let generation = try restoration.generation()
    func findings(_ plan: Restoration.Plan) -> RestoreFindings {
      RestoreFindings(plan, of: backup.path, generation: generation, check)
    }
    guard !isTrial else {
      let plan = try restoration.plan(step: session.step)
      try restoration.noteDrill()
      return [findings(plan).wireRow]
    }
    var last: [Attributes] = []
    let outcome = try restoration.carryOut(now: Self.now, step: session.step) { plan in
      last = [findings(plan).wireRow]
      guard try session.isAgreed(UpkeepQuestion(.agreement, last)) else { throw Self.declined }
      try session.begin("restoring")
    }
    return last + [outcome.wireRow]
  }

  static let declined = KeychainError(.notAllowed, "the client has declined: nothing was changed")

  /// Held for a closure that escapes.
  private final class Proof {
    let credential: Credential?

    init(_ credential: consuming Credential?) { self.credential = credential }
  }

  private func checkMayRestore(_ proof: borrowing Credential?, isRoot: Bool) throws {
    switch proof {
    // An older state than the last one is a reason to restore.
    case .some(let proof): _ = try owned(by: proof, isCopy: true)
    case .none:
      guard isRoot else { throw KeychainError(.missingEntitlement, cause: .gate, "only the owner, or root") }
    }
  }

  private func newest(at place: RestorePlace, _ session: UpkeepSession) throws -> ForeignVault {
    let newest = try place.backups.newest(forVaultAt: place.vault)
    try session.begin("reading")
    return try ForeignVault(
      copiedFrom: newest, besides: place.vault, in: place.backups, step: session.step)
  }

  /// A copy of the file that the client hands on.
  func staged(at place: RestorePlace, _ session: UpkeepSession) throws -> ForeignVault {
    let file = File<StorageError>(try session.takeFile().release(), "the file")
    try session.begin("reading")
    return try ForeignVault(copiedFrom: file, besides: place.vault, in: place.backups, step: session.step)
  }

  /// The client derives the keys, and asks a person for another credential, or ends the connection, if one does not open the backup.
  private func open(_ restoration: Restoration, _ session: UpkeepSession) throws {
    let rows = try restoration.status().wireRows()
    for _ in 0..<Self.maximumCredentials {
      guard case .credentials(_, let credential) = try session.reply(to: UpkeepQuestion(.opening, rows)) else {
        throw WireError(.malformed, "no credential")
      }
      do {
        return try restoration.open(with: credential, ceiling: .standard)
      } catch let error as VaultError {
        guard [.wrongCredential, .noSuchSlot].contains(error.code) else { throw error }
      }
    }
    throw KeychainError(.notAllowed, "too many credentials that do not open the backup")
  }
}
