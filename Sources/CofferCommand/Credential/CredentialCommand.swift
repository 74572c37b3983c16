import ArgumentParser
import CofferConsole
import CofferFiles
import VaultCore

struct CredentialCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "credential", abstract: "Answer programs that ask a helper for credentials.",
    subcommands: [CredentialGit.self, CredentialDocker.self, CredentialCargo.self, CredentialAWS.self, CredentialKubectl.self])

  func run() throws {
    throw Failure.usage("credential: a program is missing", hint: "coffer credential --help")
  }
}

/// The vault in which a helper looks, and its rights there.
struct HelperOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The group, \"default\" if none is named.", valueName: "name"), completion: OfferedNames.groups)
  var group: String?

  @OptionGroup var plainText: PlainTextOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  /// The items, and the message on standard input, which has ended before a person is asked for a passphrase.
  /// - Parameter read: Reads standard input to its end.
  func open<Message: ~Copyable>(_ read: () throws -> Message, _ body: (OpenItems, borrowing Message) throws -> Void) throws {
    guard !vault.takesStandardInput else {
      throw Failure.usage("standard input: cannot give both passphrase and message", hint: "another descriptor")
    }
    let agent = try vault.ownedVault().agentItems(access)
    let place = try agent == nil ? vault.openPlace() : nil
    // All that the caller named is open, and nothing of it has been read. An agent identifies this process, and must see it.
    if agent == nil { Hardening.hide() }
    let message = try read()
    let items = try agent ?? access.open(vault, place ?? vault.openPlace())
    try body(items, message)
    items.finish()
  }
}

extension OpenItems {
  /// - Parameter name: Nil: the groups of the app in whose name the command works.
  /// - Throws: not found.
  func groupOfHelper(_ name: String?) throws -> AccessGroup? {
    let group = try group(named: name)
    if let group, group != .standard { try checkExists(group, hint: "coffer group create makes it") }
    return group
  }
}
