import ArgumentParser
import CofferConsole
import CofferFiles
import CofferStorage
import CofferWire

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

  @OptionGroup var place: BackedUpVaultOptions

  func run() throws {
    guard file?.isEmpty != true else { throw Self.emptyName }
    if file == "-" { try checkOutput() }
    try report(place.ownedVault().backUp(to: file, isVerified: verify))
  }

  static let emptyName = Failure.usage("the name of the file is empty", hint: "name a file, or leave it out")

  private func checkOutput() throws {
    guard !Descriptor.output.isTerminal else {
      throw Failure.usage("standard output is a terminal", hint: "coffer vault backup - | COMMAND, or name a file")
    }
    guard !json else { throw Failure.usage("--json: standard output takes the copy", hint: "leave out --json, or name a file") }
  }

  private func report(_ backup: VaultBackupReport) throws {
    guard file != "-", let path = backup.path ?? file else { return }
    if json {
      let members: [(String, JSON)] = [
        ("path", .text(path)), ("generation", .natural(backup.generation)), ("records", .natural(backup.recordCount)),
        ("check", .text(backup.checkCode)), ("verified", .boolean(backup.wasVerified)),
        ("removed", .array(backup.removed.map { .text($0) })),
      ]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    let records = counted(backup.recordCount, "record")
    try Descriptor.output.write(
      "\(path.escapingControls()): generation \(backup.generation), \(records)\(backup.wasVerified ? ", all sound" : "")\n")
  }

  /// Writes a finished backup to standard output.
  static func write(_ file: File<StorageError>, _ work: LongWork) throws {
    try file.forEachPiece { piece in
      // The reader may take its time, and the file has no name any more.
      try work.pause()
      try unsafe Descriptor.output.write(piece.span.bytes)
    }
  }
}
