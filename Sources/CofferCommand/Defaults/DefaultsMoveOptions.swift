import ArgumentParser
import VaultCore

/// What may stand behind `doctor --move DOMAIN KEY`.
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

/// The vault could not be opened or written. The exit status is then that of the commands of the vault, for which `defaults` of macOS has
/// no numbers; only wrong arguments keep the number that they have there.
struct VaultSideFailure: Error {
  let reason: Failure

  var status: Int32 { reason.status == .usage ? DefaultsFailure.Status.usage.rawValue : reason.status.rawValue }

  init(_ error: any Error) { reason = Failure(error) }

  /// Runs `body`, whose errors are those of the vault.
  static func catching<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw VaultSideFailure(error)
    }
  }
}
