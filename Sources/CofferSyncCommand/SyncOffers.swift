import ArgumentParser
import CofferConsole
import CofferSync

/// For the completions of `coffer`: what may stand in the place of the last word.
struct SyncOffers: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "offers", abstract: "Print what a shell offers for the last word.", shouldDisplay: false)

  @Argument var words: [String]

  func run() throws {
    let prefix = words.last ?? ""
    for name in Self.names(behind: words.dropLast(), isOption: prefix.hasPrefix("-")) where name.hasPrefix(prefix) {
      try Descriptor.output.write("\(name)\n")
    }
  }

  private static func names(behind words: ArraySlice<String>, isOption: Bool) -> [String] {
    var command: any ParsableCommand.Type = SyncProgram.self
    var rest = words
    while let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == rest.first }) {
      (command, rest) = (next, rest.dropFirst())
    }
    if isOption { return options(of: command) }
    let isRole = rest.last == "--role" || command is SyncRole.Type && rest.count == 1
    guard !isRole else { return Role.allValueStrings }
    guard rest.isEmpty else { return [] }
    return command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.compactMap { $0.configuration.commandName }
  }

  /// The lines of the help have options at the begin.
  private static func options(of command: any ParsableCommand.Type) -> [String] {
    var options: [String] = []
    for line in SyncProgram.helpMessage(for: command).split(separator: "\n") where line.hasPrefix("  -") {
      let words = line.split { $0 == " " || $0 == "," }
      options += words.prefix { $0.hasPrefix("-") }.filter { $0.hasPrefix("--") }.map(String.init)
    }
    return options
  }
}
