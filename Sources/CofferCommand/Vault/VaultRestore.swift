import ArgumentParser
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import SecretMemory
import VaultCore

struct VaultRestore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Put a backup in the place of the vault.",
    discussion: """
      Without FILE the newest backup is taken, those apart that a restore or repair has made before. It is copied, opened with a credential of the backup, proven as a whole and compared with \
      the vault before the question. The vault as it was is kept as a backup.
      """)

  @Argument(help: ArgumentHelp("The backup.", valueName: "file"), completion: .file())
  var file: String?

  @Flag(help: "Accept a backup of another vault.")
  var otherVault = false

  @OptionGroup var trial: TrialOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard file?.isEmpty != true else { throw VaultBackup.emptyName }
    try vault.prepare()
    try vault.checkIsFile()
    let places = try Places { Environment[$0] }
    let path = vault.vault ?? places.vault
    let place = try about(path) { try RestorePlace(places, vaultAt: vault.vault) }
    let file = try self.file ?? newest(place)
    let keyFile = try vault.keyFile.map { try Descriptor.openKeyFile($0) }
    let work = try LongWork("reading")
    // Held to the end: another command fails before it has read anything.
    let lock = try about(path) { try MaintenanceLock(forVaultAt: place.vault) }
    let restoration = Restoration(of: try staged(file, place, work), at: place, holding: lock)
    let result = try prove(restoration, file, keyFile, places, work)
    try work.pause()
    let plan = try about(path) { try restoration.plan() }
    var report = RestoreReport(file: file, path: path, plan: plan, generation: try restoration.generation(), verification: result)
    guard !trial.dryRun else {
      try checkVault(report)
      try about(path) { try restoration.noteDrill() }
      return try report.write(asJSON: trial.json, outcome: nil)
    }
    let outcome = try about(path) {
      try restoration.carryOut(now: .now(), step: work.step) { plan in
        report.plan = plan
        try agree(report, work)
      }
    }
    work.end()
    if trial.json { try report.write(asJSON: true, outcome: outcome) } else { try report.write(outcome) }
  }

  private func checkVault(_ report: RestoreReport) throws {
    guard otherVault || !report.plan.isOtherVault else { throw Failure(LifecycleError(.otherVault), about: report.file) }
  }

  /// Asks for each plan: for another one if the vault is changed, or turns out to be unreadable.
  private func agree(_ report: RestoreReport, _ work: LongWork) throws {
    try checkVault(report)
    if !trial.json { try report.write(asJSON: false, outcome: nil) }
    // A question takes its signals itself, and a signal there removes the copy, too.
    try work.begin("restoring")
    if report.plan.way != .nothing { try ask(report.path) }
  }

  private func newest(_ place: RestorePlace) throws -> String {
    guard let newest = place.backups.newest else { throw Failure(LifecycleError(.noBackup), about: place.backups.path) }
    return place.backups.path(of: newest)
  }

  private func staged(_ file: String, _ place: RestorePlace, _ work: LongWork) throws -> ForeignVault {
    do {
      return try ForeignVault(copiedFrom: file, besides: place.vault, in: place.backups, step: work.step)
    } catch StorageError(.noVault) {
      throw Failure(.notFound, "\(file): there is no such file", hint: "coffer vault backup makes one")
    } catch {
      throw Failure(error, about: file)
    }
  }

  private func prove(
    _ restoration: Restoration, _ file: String, _ keyFile: Descriptor?, _ places: Places, _ work: LongWork
  ) throws -> Verification {
    try about(file) {
      try work.pause()
      try vault.withCredential(restoration.slotTypes(), file, keyFile) { credential in
        try restoration.open(
          with: credential, ceiling: vault.ceiling, deviceKey: DeviceKeyFile(at: places.deviceKey).load())
      }
      try work.begin("checking")
      let result = try restoration.verify(step: work.step)
      guard result.isSound else {
        throw Failure.unsound(result, about: file, hint: "nothing has been changed; take another backup")
      }
      return result
    }
  }

  private func ask(_ path: String) throws {
    guard !trial.force else { return }
    guard vault.isAnybodyThere else {
      throw Failure(.locked, "\(path): a person must agree, and cannot be asked here", hint: "--force; to try it: --dry-run")
    }
    guard try Question.isYes("Put the backup in its place? [y/N] ") else { throw Failure.cancelled }
  }
}
