import ArgumentParser
import CofferConsole
import CredentialProtocols
import SecretMemory
import VaultCore

struct CredentialGit: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "git", abstract: "Keep the passwords and tokens of git.",
    discussion: "git runs it as git-credential-coffer: git config --global credential.helper coffer")

  @Argument(help: "get, store, erase or capability, as git asks; or prefer USER PLACE.")
  var action: String

  @Argument(help: "With prefer: the user.")
  var user: String?

  @Argument(help: "With prefer: HOST or HOST/PATH, for which this user's password is taken.")
  var place: String?

  @OptionGroup var helper: HelperOptions

  func run() throws {
    if action == "prefer" { return try prefer() }
    guard user == nil else { throw Failure.usage("\(action): takes no operand", hint: "coffer credential git --help") }
    switch action {
    case "get": try endingRequests { try open(GitGet.run) }
    case "store": try open(GitStore(options: helper).run)
    case "erase": try open(GitErase.run)
    case "capability": try Descriptor.output.write("version 0\ncapability \(GitMessage.authenticationTypes)\n")
    // Later versions of git may ask for more.
    default: break
    }
  }

  private func prefer() throws {
    guard let user, let place else {
      throw Failure.usage("prefer: a user or a place is missing", hint: "coffer credential git prefer USER HOST[/PATH]")
    }
    let preference = try GitPreference(user: user, place: place)
    let items = try helper.access.open(helper.vault)
    try preference.set(in: GitItems(items, group: helper.group))
    items.finish()
  }

  private func open(_ body: (GitItems, GitPlace, borrowing GitMessage) throws -> Void) throws {
    try helper.open(Self.read) { items, message in
      // Without a place, no item is meant, and none may be erased.
      guard let place = try GitPlace(message) else { return }
      try body(GitItems(items, group: helper.group), place, message)
    }
  }

  /// - Throws: other, for a message that git does not send.
  private static func read() throws -> GitMessage {
    do {
      return try GitMessage(parsing: Secret.reading(.input, until: GitMessage.isComplete))
    } catch let error as VaultError where error.code == .secretTooLarge {
      throw Failure(.other, "standard input: the message has more than \(Secret.longestValue) bytes")
    } catch {
      throw Failure(error, about: "standard input")
    }
  }

  /// git ignores the exit status of a helper, and would ask for a user and a password.
  private func endingRequests(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      let failure = Failure(error)
      switch failure.status {
      case .locked, .denied, .cancelled, .wrongPassphrase: try Descriptor.output.write("quit=1\n")
      default: break
      }
      throw failure
    }
  }
}
