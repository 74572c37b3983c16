import ArgumentParser
import Coffer
import CofferConsole
import VaultCore

struct SecretRestore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Go back to an earlier version of an item, or get a removed item back.",
    discussion: "The present value becomes a former version, so that this can be undone too. The name stays.")

  @OptionGroup var item: ItemOptions

  @Option(
    help: ArgumentHelp("The version, as coffer secret history lists it. The newest former one if there is none.", valueName: "n"))
  var version: UInt64?

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let selection = try Selection(item)
    try access.withVersions(of: selection, vault) { keychain, found in
      do { _ = try keychain.restore(found.reference, version: version) } catch let error as KeychainError {
        guard version == nil, error.cause == .vault(.versionNotFound) else { throw error }
        throw Failure(
          .notFound, "\(found.name): has no former version", hint: "coffer vault policy shows how many are kept, and for how long"
        )
      }
    }
  }
}
