import ArgumentParser
import CofferConsole

struct AppCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app",
    abstract: "Install apps, with containers and groups of their own.",
    subcommands: [
      AppKeygen.self, AppSign.self, AppLint.self, AppInstall.self, AppList.self, AppShow.self, AppRemove.self, AppForget.self,
      AppGrant.self, AppRevoke.self, AppBackup.self, AppRestore.self, AppPurge.self, AppDeliver.self, AppRun.self, AppDev.self,
      AppLog.self,
    ]
  )

  func run() throws {
    throw Failure.usage("app: a verb is missing", hint: "coffer app --help")
  }
}

/// The executables of a manifest.
struct ManifestOptions: ParsableArguments {
  @Argument(help: "The manifest: a property list.", completion: .file())
  var manifest: String

  @Option(
    name: .customLong("from"),
    help: ArgumentHelp("Where its executables lie, if not beside it.", valueName: "directory"), completion: .directory)
  var directory: String?

  func place() throws -> ManifestPlace { try ManifestPlace(manifest, executablesIn: directory) }
}
