import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore

extension FileVault {
  func restore(_ file: String?, isTrial: Bool, _ dialogue: RestoreDialogue) throws -> RestoreAnswer {
    try options.prepare()
    let places = try Places { Environment[$0] }
    guard options.vault == nil else { return try restore(file, isTrial: isTrial, places, dialogue) }
    return try about(places.vault) {
      try Files<StorageError>.withDurableDirectory(Path.parent(of: places.vault)) {
        try restore(file, isTrial: isTrial, places, dialogue)
      }
    }
  }

  private func restore(
    _ file: String?, isTrial: Bool, _ places: Places, _ dialogue: RestoreDialogue
  ) throws -> RestoreAnswer {
    let path = try name
    let place = try about(path) {
      do { return try RestorePlace(places, vaultAt: options.vault) } catch StorageError(.notAFile) {
        throw Failure(.inputOutput, "\(path): is a directory or a device, not a file", hint: "name a file with --vault")
      }
    }
    let chosen = try file == nil ? newest(place) : nil
    let file = file ?? chosen ?? path
    let keyFile = try options.keyFile.map { try Descriptor.openKeyFile($0) }
    let work = try LongWork("reading")
    // Held to the end: another command fails before it has read anything. A trial needs none, and works if nothing can be written here.
    let lock = try isTrial ? nil : about(path) { try MaintenanceLock(forVaultAt: place.vault) }
    let restoration = Restoration(of: try staged(file, besides: place.vault, in: place.backups, work), at: place, holding: lock)
    let check = try prove(restoration, file, keyFile, work)
    return try about(path) {
      var findings = RestoreFindings(
        try restoration.plan(step: work.step), of: chosen, generation: try restoration.generation(), VaultCheck(check))
      try work.waitForRoom(in: .output)
      guard !isTrial else {
        try dialogue.show(findings)
        if try restoration.agentHasVault(findings.plan.way) {
          Descriptor.error.note("note: an agent has the vault open; before the restore: coffer agent stop\n")
        }
        do { try restoration.noteDrill() } catch {
          Descriptor.error.note("note: the trial was not recorded: \(Failure(error).message.escapingControls())\n")
        }
        return RestoreAnswer(findings, nil)
      }
      let outcome = try restoration.carryOut(now: .now(), step: work.step) { plan in
        findings.plan = plan
        try work.waitForRoom(in: .output)
        try dialogue.show(findings)
        // A question takes its signals itself, and a signal there removes the copy, too.
        try work.begin("restoring")
        if plan.way != .nothing { try dialogue.ask() }
      }
      work.end()
      return RestoreAnswer(findings, outcome)
    }
  }

  private func newest(_ place: RestorePlace) throws -> String {
    do { return try place.backups.newest(forVaultAt: place.vault) } catch let error as LifecycleError {
      throw Failure(error, about: error.detail)
    }
  }

  /// A copy of a backup: nothing is opened where it lies.
  func staged(_ file: String, besides vault: String, in directory: BackupDirectory, _ work: LongWork) throws -> ForeignVault {
    try VaultRestore.naming(file) { try ForeignVault(copiedFrom: file, besides: vault, in: directory, step: work.step) }
  }

  private func prove(
    _ restoration: Restoration, _ file: String, _ keyFile: Descriptor?, _ work: LongWork
  ) throws -> Verification {
    try VaultRestore.naming(file) {
      let kinds = Set(try restoration.status().slots.map(\.type))
      // A key file is open already, and nothing is waited for.
      if keyFile == nil { try work.pause() }
      try options.withCredential(kinds, file, keyFile, asking: BackupCredentials.subject) { credential in
        try work.begin("checking")
        do { try restoration.open(with: credential, ceiling: options.ceiling) } catch let error as VaultError
          where error.code == .wrongCredential && restoration.isNamedOtherwise()
        {
          throw VaultRestore.wrongCredentialOfOtherVault(file)
        }
      }
      let result = try restoration.verify(step: work.step)
      guard result.isIntact else { throw VaultRestore.unsound(VaultCheck(result), file) }
      return result
    }
  }
}
