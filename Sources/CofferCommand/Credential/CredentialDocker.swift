import ArgumentParser
import CofferConsole
import CredentialProtocols
import Glibc
import SecretMemory

struct CredentialDocker: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "docker", abstract: "Keep the passwords and tokens of docker.",
    discussion: #"docker runs it as docker-credential-coffer: "credsStore": "coffer" in ~/.docker/config.json"#)

  @Argument(help: "store, get, erase, list or version, as docker asks.")
  var action: String

  @OptionGroup var helper: HelperOptions

  /// docker shows what a helper has printed on standard output, and knows some of it by its words.
  func run() throws {
    do {
      try answer()
    } catch {
      try Descriptor.output.write(Self.words(for: error).escapingControls() + "\n")
      Glibc.exit(ExitStatus.other.rawValue)
    }
  }

  private func answer() throws {
    switch action {
    case "store": try open(DockerCredential.init(parsing:), DockerItems.store)
    case "get": try open(DockerServer.init(parsing:), DockerItems.get)
    case "erase": try open(DockerServer.init(parsing:), DockerItems.erase)
    // docker sends a message that has no meaning.
    case "list": try helper.open(Self.nothing) { items, _ in try DockerItems(items, helper).list() }
    case "version": try Descriptor.output.write("docker-credential-coffer (coffer) \(Coffer.configuration.version)\n")
    default: throw Failure.usage("\(action): no such action", hint: "store, get, erase, list or version")
    }
  }

  private func open<Message: ~Copyable>(
    _ parse: (consuming Secret) throws -> Message, _ body: (DockerItems) -> (borrowing Message) throws -> Void
  ) throws {
    func read() throws -> Message {
      do {
        return try parse(Secret.reading(.input))
      } catch let error as VaultError where error.code == .secretTooLarge {
        throw Failure(.other, "standard input: the message has more than \(Secret.longestValue) bytes")
      }
    }
    try helper.open(read) { items, message in try body(DockerItems(items, helper))(message) }
  }

  private static func nothing() {}

  private static func words(for error: any Error) -> String {
    let failure = Failure(error)
    if let error = error as? CredentialError, [.serverMissing, .userMissing, .serverUnknown].contains(error.code) {
      return failure.message
    }
    guard failure.status != .locked else { return "coffer is locked: coffer vault unlock" }
    return "coffer: \(failure.message)" + (failure.hint.map { " (\($0))" } ?? "")
  }
}
