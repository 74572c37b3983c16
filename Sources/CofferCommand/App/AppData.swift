import AppContainers
import ArgumentParser
import CofferConsole
import CofferFiles

struct AppBackup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Write the documents and settings of an app into an archive.",
    discussion:
      "A tar archive with gzip. Caches, the Inbox, tmp and files that the app has excluded are left out. Its items are in the vault."
  )

  @Argument(help: "TEAM.identifier, or the identifier alone.", completion: OfferedNames.apps)
  var app: String

  @Option(help: ArgumentHelp("The new archive. Nothing that exists is replaced.", valueName: "file"), completion: .file())
  var output: String

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    let container = try UserContainers.container(of: app)
    let file = try Descriptor.create(output)
    let backup: Backup
    do {
      backup = try about("\(container.app)") { try Backup(of: container, to: OpenFile(file.number, output)) }
    } catch {
      Descriptor.remove(output)
      throw error
    }
    for path in backup.leftOut { Descriptor.error.note("note: \(path.escapingControls()): left out\n") }
    guard json else { return }
    let members: [(String, JSON)] = [
      ("count", .integer(Int64(backup.count))), ("leftOut", .array(backup.leftOut.map { .text($0) })),
    ]
    try Descriptor.output.write(JSON.object(members).description + "\n")
  }
}

struct AppRestore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Replace the documents and settings of an app by those of a backup.",
    discussion: "All of it, or nothing. Asks at a terminal, unless --force is given. Without a terminal nothing is asked.")

  @Argument(help: "TEAM.identifier, or the identifier alone.", completion: OfferedNames.apps)
  var app: String

  @Argument(help: "The archive.", completion: .file())
  var archive: String

  @Flag(help: "Do not ask.")
  var force = false

  @Flag(help: "Take the backup of another app, too.")
  var fromOtherApp = false

  func run() throws {
    let container = try UserContainers.container(of: app)
    let file = try Descriptor.open(archive)
    if !force, Descriptor.input.isTerminal {
      guard try Question.isYes("Replace the documents and settings of \(container.app)? [y/N] ") else { throw Failure.cancelled }
    }
    try about(archive) {
      _ = try Restoration(of: container, from: OpenFile(file.number, archive), isOfAnyApp: fromOtherApp)
    }
  }
}

struct AppPurge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Empty tmp, and the caches if the disk is low, of apps that are not running.",
    discussion: "Prints the emptied directories, each with its app.")

  @Argument(help: "TEAM.identifier, or the identifier alone; all apps if none is named.", completion: OfferedNames.apps)
  var app: String?

  @Flag(help: "The caches too, however much room there is.")
  var caches = false

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    if let app {
      let container = try UserContainers.container(of: app)
      let purged = try about("\(container.app)") { try purge(container) }
      if json { try Descriptor.output.write(JSON.array([purged]).description + "\n") }
      return
    }
    var purged: [JSON] = []
    // A container that cannot be emptied does not stop emptying those of the other apps.
    var failures: [Failure] = []
    for name in try UserContainers.names() {
      do {
        if let container = try UserContainers.container(named: name) { purged.append(try purge(container)) }
      } catch FileError(.running) {
        Descriptor.error.note("note: \(name.escapingControls()): running, not touched\n")
      } catch {
        failures.append(Failure(error, about: name))
      }
    }
    if json { try Descriptor.output.write(JSON.array(purged).description + "\n") }
    for failure in failures.dropLast() { Descriptor.error.note(failure.text) }
    if let last = failures.last { throw last }
  }

  private func purge(_ container: AppContainer) throws -> JSON {
    let isDiskLow = try caches || Purge.isDiskLow(at: container.directory)
    let emptied = try Purge(container, isDiskLow: isDiskLow).emptied.map { ($0.rules.path ?? []).joined(separator: "/") }
    if !json { for path in emptied { try Descriptor.output.write("\(container.app)\t\(path)\n") } }
    return .object([("application", .text("\(container.app)")), ("emptied", .array(emptied.map { .text($0) }))])
  }
}
