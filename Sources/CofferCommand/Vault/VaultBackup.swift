import ArgumentParser
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import Glibc
import SecretMemory
import VaultCore

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
    if file == "-" { try checkOutput() }
    let place = try vault.openPlace()
    let target = try target(place)
    let work = try LongWork("copying")
    var checked: Verification?
    do {
      let backup = try Backup.make(of: place.store, at: target, now: .now(), step: work.step) { copy in
        work.begin("checking")
        if verify { checked = try prove(copy, place, work) }
      }
      work.end()
      try report(backup, checked)
    } catch {
      // Damage is that of the vault: the copy is read through the same bounds.
      throw Failure(error, about: Failure(error).status == .integrity ? place.path : subject(target))
    }
  }

  private func checkOutput() throws {
    guard !Descriptor.output.isTerminal else {
      throw Failure.usage("standard output is a terminal", hint: "coffer vault backup - | COMMAND, or name a file")
    }
    guard !json else { throw Failure.usage("--json: standard output takes the copy", hint: "leave out --json, or name a file") }
  }

  private func target(_ place: VaultPlace) throws -> Backup.Target {
    switch file {
    case "-"?: return .stream(place.backups) { try unsafe Descriptor.output.write($0.span.bytes) }
    case let file?:
      try about(file) { try Backup.checkFree(file, besides: place.store.path) }
      return .file(file)
    case nil: return .directory(place.backups)
    }
  }

  private func subject(_ target: Backup.Target) -> String {
    switch target {
    case .file(let path): path
    case .directory(let directory), .stream(let directory, _): directory.path
    }
  }

  private func prove(_ copy: FileStore, _ place: VaultPlace, _ work: LongWork) throws -> Verification {
    let kinds = Set(try Vault.inspect(copy).slots.map(\.type))
    return try about(place.path) {
      try vault.withCredential(kinds, place.path, place.keyFile) { credential in
        let opened = try Vault.open(copy, with: credential, ceiling: vault.ceiling, deviceKey: place.deviceKey(), isCopy: true)
        let result = try opened.verify(progress: work.step)
        guard result.isSound else { throw Failure.unsound(result, about: place.path) }
        return result
      }
    }
  }

  private func report(_ backup: Backup, _ checked: Verification?) throws {
    guard let path = backup.path else { return }
    if json {
      let members: [(String, JSON)] = [
        ("path", .text(path)), ("generation", .natural(backup.status.generation)),
        ("records", .natural(backup.status.recordCount)), ("check", .text(backup.status.checkCode)),
        ("verified", .boolean(checked != nil)), ("removed", .array(backup.removed.map { .text($0) })),
      ]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    let records = counted(backup.status.recordCount, "record")
    try Descriptor.output.write(
      "\(path.escapingControls()): generation \(backup.status.generation), \(records)\(checked == nil ? "" : ", all sound")\n")
  }
}
