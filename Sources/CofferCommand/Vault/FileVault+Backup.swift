import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore
import VaultUpkeep

extension FileVault {
  func backupState() throws -> BackupState? {
    let places = try Places { Environment[$0] }
    return try BackupState(ofVaultAt: options.vault ?? places.vault, places, at: .now())
  }

  func checkAge() throws {
    let place = try options.openPlace()
    if let age = place.age {
      throw Failure(
        .integrity, "\(place.path): \(age)",
        hint: "a later backup in its place: coffer vault restore; if you have put it there: coffer vault accept-rollback")
    }
    do { try place.anchor.check(Vault.inspect(place.store).id) } catch {
      throw Failure(
        .integrity, "the states of the vault are not recorded: \(Failure(error).message)",
        hint: "an older vault in the place of this one would not be noticed: the directory must be writable, for you alone")
    }
  }

  func backUp(to file: String?, isVerified: Bool) throws -> VaultBackupReport {
    let place = try options.openPlace()
    if let file, file != "-" { try about(file) { try Backup.checkFree(file, besides: place.store.path) } }
    // The credential is read before there is anything to clean up.
    let prover = isVerified ? try prover(place) : nil
    let work = try LongWork("copying")
    do {
      let backup = try Backup.make(of: place.store, at: target(file, place, work), now: .now(), step: work.step) { copy in
        try work.begin("checking")
        if let prover { try prove(copy, by: prover, place, work) }
      }
      work.end()
      if let age = place.age { Descriptor.error.note("note: \(place.path.escapingControls()): \(age)\n") }
      let removed = file == nil ? place.backups.prune(keeping: [backup.path ?? ""]) : []
      return VaultBackupReport(backup.status, at: backup.path, wasVerified: isVerified, removed: removed)
    } catch {
      // Damage is that of the vault: the copy is read through the same bounds.
      let subject = file.map { $0 == "-" ? "the copy" : $0 } ?? place.backups.path
      throw Failure(error, about: Failure(error).status == .integrity ? place.path : subject)
    }
  }

  private func target(_ file: String?, _ place: VaultPlace, _ work: LongWork) -> Backup.Target {
    switch file {
    case "-"?: .unnamed(place.backups) { try VaultBackup.write($0, work) }
    case let file?: .file(file)
    case nil: .directory(place.backups)
    }
  }

  private func prover(_ place: VaultPlace) throws -> RestoredVault {
    try options.withCredential(for: place) { credential in
      let prover = try RestoredVault(opening: place.store, with: credential, ceiling: options.ceiling)
      try place.deviceKeys(of: prover.keys.vault).open(prover, in: place.store)
      return prover
    }
  }

  private func prove(_ copy: FileStore, by prover: RestoredVault, _ place: VaultPlace, _ work: LongWork) throws {
    let result = try copy.read { try prover.verify($0, progress: work.step) }
    guard result.isIntact else { throw Failure.unsound(result, about: place.path) }
  }
}
