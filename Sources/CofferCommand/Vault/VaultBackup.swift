import ArgumentParser
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import Glibc
import SecretMemory
import VaultCore
import VaultUpkeep

struct VaultBackup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the vault to a file, while others write.",
    discussion: """
      Nothing is asked: the copy is as sealed as the vault. Without FILE it lies in the directory of backups, which keeps the newest 10. \
      With - as FILE it goes to standard output.
      """)

  @Argument(help: ArgumentHelp("The new file, or - for standard output.", valueName: "file"), completion: .file())
  var file: String?

  @Flag(help: "Also prove and open everything in the copy, which needs a credential.")
  var verify = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard file?.isEmpty != true else { throw Self.emptyName }
    if file == "-" { try checkOutput() }
    let place = try vault.openPlace()
    if let file, file != "-" { try about(file) { try Backup.checkFree(file, besides: place.store.path) } }
    // The credential is read before there is anything to clean up.
    let prover = verify ? try prover(place) : nil
    let work = try LongWork("copying")
    var checked: Verification?
    do {
      let backup = try Backup.make(of: place.store, at: target(place, work), now: .now(), step: work.step) { copy in
        try work.begin("checking")
        if let prover { checked = try prove(copy, by: prover, place, work) }
      }
      work.end()
      let removed = file == nil ? place.backups.prune(keeping: [backup.path ?? ""]) : []
      try report(backup, checked, removed)
    } catch {
      // Damage is that of the vault: the copy is read through the same bounds.
      throw Failure(error, about: Failure(error).status == .integrity ? place.path : subject(place))
    }
  }

  static let emptyName = Failure.usage("the name of the file is empty", hint: "name a file, or leave it out")

  private func checkOutput() throws {
    guard !Descriptor.output.isTerminal else {
      throw Failure.usage("standard output is a terminal", hint: "coffer vault backup - | COMMAND, or name a file")
    }
    guard !json else { throw Failure.usage("--json: standard output takes the copy", hint: "leave out --json, or name a file") }
  }

  private func target(_ place: VaultPlace, _ work: LongWork) -> Backup.Target {
    switch file {
    case "-"?:
      .stream(place.backups) { piece in
        // The reader may take its time, and the file has no name any more.
        try work.pause()
        try unsafe Descriptor.output.write(piece.span.bytes)
      }
    case let file?: .file(file)
    case nil: .directory(place.backups)
    }
  }

  private func subject(_ place: VaultPlace) -> String { file.flatMap { $0 == "-" ? nil : $0 } ?? place.backups.path }

  private func prover(_ place: VaultPlace) throws -> RestoredVault {
    try vault.withCredential(for: place) { credential in
      try RestoredVault(opening: place.store, with: credential, ceiling: vault.ceiling, deviceKey: place.deviceKey())
    }
  }

  private func prove(
    _ copy: FileStore, by prover: RestoredVault, _ place: VaultPlace, _ work: LongWork
  ) throws -> Verification {
    let result = try copy.read { try prover.verify($0, progress: work.step) }
    guard result.isSound else { throw Failure.unsound(result, about: place.path) }
    return result
  }

  private func report(_ backup: Backup, _ checked: Verification?, _ removed: [String]) throws {
    guard let path = backup.path else { return }
    if json {
      let members: [(String, JSON)] = [
        ("path", .text(path)), ("generation", .natural(backup.status.generation)),
        ("records", .natural(backup.status.recordCount)), ("check", .text(backup.status.checkCode)),
        ("verified", .boolean(checked != nil)), ("removed", .array(removed.map { .text($0) })),
      ]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    let records = counted(backup.status.recordCount, "record")
    try Descriptor.output.write(
      "\(path.escapingControls()): generation \(backup.status.generation), \(records)\(checked == nil ? "" : ", all sound")\n")
  }
}
