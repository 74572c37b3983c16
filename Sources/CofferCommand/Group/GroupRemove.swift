import ArgumentParser
import CofferConsole
import CofferRequests
import SecretMemory
import VaultCore
import VaultUpkeep

struct GroupRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove a group.",
    discussion: """
      A group with items or grants needs --with-items, which removes them too, for good: nothing brings them back but a backup. It asks for the group's name at a terminal; without a \
      terminal it needs --force.
      """, aliases: ["remove"])

  @Argument(help: "The name of the group.", completion: OfferedNames.groups)
  var name: String

  @Flag(help: "Remove its items, their former versions and the grants too.")
  var withItems = false

  @Flag(help: "Do not ask.")
  var force = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard !withItems || force || vault.isAnybodyThere else {
      throw Failure(.locked, "group \(name): its name must be typed, and cannot be asked for here", hint: "--force")
    }
    try GroupChange(.removeGroup, name).run(vault) { group, contents in
      guard group != .standard else { throw Failure(VaultError(.groupRequired), about: "group \(name)") }
      guard try contents() != nil else {
        throw Failure(.notFound, "group \(name): does not exist", hint: "coffer group list")
      }
      guard withItems else { return .remove(group, withItemsAsOf: nil) }
      return .remove(group, withItemsAsOf: try agreed(contents()))
    }
  }

  /// - Returns: The generation of the vault at which the person has seen the group, 0 if it was not there to be seen; the highest one with
  ///   `--force`: all of it goes.
  private func agreed(_ contents: GroupContents?) throws -> UInt64 {
    guard let contents else { return force ? .max : 0 }
    let formers = contents.formerCount == 0 ? "" : ", \(counted(contents.formerCount, "former version"))"
    Descriptor.error.note(
      "note: \(name.escapingControls()): \(counted(contents.itemCount, "item"))\(formers), granted to \(contents.granteeText)\n")
    if contents.itemCount + contents.formerCount > 0 {
      Descriptor.error.note("note: nothing brings the items back but a backup\n")
    }
    guard !force else { return .max }
    let typed = try Person.ask("Type the group's name to remove all of it for good: ", isShown: true, isAllowed: true)
    guard try typed.isEqual(to: Secret(copying: Array(name.utf8))) else { throw Failure.cancelled }
    return contents.generation
  }
}

extension GroupContents {
  fileprivate var granteeText: String {
    grantees.isEmpty ? "no program" : grantees.joined(separator: ", ").escapingControls()
  }
}
