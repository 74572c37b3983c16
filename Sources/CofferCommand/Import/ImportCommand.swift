import ArgumentParser
import CofferConsole

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Copy items from elsewhere into the vault.",
    subcommands: [ImportCoffer.self] + foreign)

  private static let foreign: [any ParsableCommand.Type] = [
    ImportForeign<DotenvImport>.self, ImportForeign<NetrcImport>.self, ImportForeign<GitCredentialsImport>.self,
    ImportForeign<DockerImport>.self, ImportForeign<NpmrcImport>.self, ImportForeign<PypircImport>.self,
    ImportForeign<AWSImport>.self,
  ]

  func run() throws {
    throw Failure.usage("import: a source is missing", hint: "coffer import --help")
  }
}
