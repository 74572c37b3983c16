import ArgumentParser
import CofferConsole
import DefaultsCommand
import VaultCore

/// The options of `doctor --move DOMAIN KEY`.
struct DefaultsMoveOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The group of the vault that the items go to.", valueName: "name"))
  var group: String?

  @Flag(help: "Make the group if it is not there.")
  var createGroup = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  /// - Throws: `DefaultsFailure`, status `usage`.
  static func read(_ arguments: [String]) throws -> DefaultsMoveOptions {
    do {
      return try parse(arguments)
    } catch {
      let message = message(for: error).split(separator: "\n").first.map(String.init) ?? "not understood"
      throw DefaultsFailure.usage("doctor: \(message.prefix(1).lowercased())\(message.dropFirst())")
    }
  }

  /// - Throws: usage, where no group can have this name.
  func accessGroup() throws -> AccessGroup {
    guard let group else { return .standard }
    return try about("--group") { try AccessGroup(group) }
  }
}
