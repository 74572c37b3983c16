import ArgumentParser
import CofferConsole

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Copy items from elsewhere into the vault.",
    subcommands: [ImportCoffer.self] + ForeignFormatList.commands + [ImportSecretService.self])

  func run() throws {
    throw Failure.usage("import: a source is missing", hint: "coffer import --help")
  }
}
