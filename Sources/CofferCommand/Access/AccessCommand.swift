import ArgumentParser
import CofferConsole

struct AccessCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "access", abstract: "Which programs may use which items, and why.",
    subcommands: [AccessList.self, AccessRevoke.self, AccessAllow.self])

  func run() throws {
    throw Failure.usage("access: a verb is missing", hint: "coffer access --help")
  }
}
