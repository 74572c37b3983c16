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

  @Flag(help: "Stop before the question: a trial of the backup.")
  var dryRun = false

  @Flag(help: "Accept a backup of another vault.")
  var otherVault = false

  @Flag(help: "Do not ask.")
  var force = false

  @Flag(help: "As JSON.")
  var json = false

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
    let restoration = try about(file) { try Self.restoration(of: file, at: place, path, work) }
    let result = try prove(restoration, file, keyFile, places, work)
    try work.pause()
    let plan = try about(path) { try restoration.plan() }
    let report = RestoreReport(file: file, path: path, plan: plan, generation: try restoration.generation(), verification: result)
    guard otherVault || !plan.isOtherVault else { throw Failure(LifecycleError(.otherVault), about: file) }
    if dryRun {
      try about(path) { try restoration.noteDrill() }
      return try report.write(asJSON: json, outcome: nil)
    }
    try carryOut(report, by: restoration, work)
  }

  /// After a yes; after another one if the file here turns out to be unreadable on the way.
  private func carryOut(_ report: RestoreReport, by restoration: Restoration, _ work: LongWork) throws {
    if !json { try report.write(asJSON: false, outcome: nil) }
    // A question takes its signals itself, and a signal there removes the copy, too.
    try work.begin("restoring")
    if report.plan.way != .nothing { try ask(report.path) }
    do {
      let outcome = try restoration.carryOut(report.plan, now: .now(), step: work.step)
      work.end()
      if json { try report.write(asJSON: true, outcome: outcome) } else { try report.write(outcome) }
    } catch let unreadable as Restoration.Unreadable {
      var report = report
      report.plan = unreadable.plan
      try carryOut(report, by: restoration, work)
    } catch {
      throw Failure(error, about: report.path)
    }
  }

  private func newest(_ place: RestorePlace) throws -> String {
    guard let newest = place.backups.newest else { throw Failure(LifecycleError(.noBackup), about: place.backups.path) }
    return place.backups.path(of: newest)
  }

  /// An error of the vault's own place names that.
  private static func restoration(
    of file: String, at place: RestorePlace, _ path: String, _ work: LongWork
  ) throws -> Restoration {
    do {
      return try Restoration(of: file, at: place, step: work.step)
    } catch StorageError(.maintenance) {
      throw Failure(StorageError(.maintenance), about: path)
    } catch StorageError(.noVault) {
      throw Failure(.notFound, "\(file): there is no such file", hint: "coffer vault backup makes one")
    }
  }

  private func prove(
    _ restoration: Restoration, _ file: String, _ keyFile: Descriptor?, _ places: Places, _ work: LongWork
  ) throws -> Verification {
    return try about(file) {
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
    guard !force else { return }
    guard vault.isAnybodyThere else {
      throw Failure(.locked, "\(path): a person must agree, and cannot be asked here", hint: "--force; to try it: --dry-run")
    }
    guard try Question.isYes("Put the backup in its place? [y/N] ") else { throw Failure.cancelled }
  }
}
