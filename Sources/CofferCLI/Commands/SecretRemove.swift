import ArgumentParser
import VaultCore

struct SecretRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Remove an item.",
    discussion:
      "Asks at a terminal, unless --force or --no-input is given. Without a terminal nothing is asked, and the item is removed."
  )

  @OptionGroup var item: ItemOptions

  @Flag(help: "Do not ask.")
  var force = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let selection = try Selection(item)
    guard selection.name.field == nil else {
      throw Failure.usage("name: a field cannot be removed so", hint: "coffer secret edit NAME --remove-attr FIELD")
    }
    var opened = try vault.open()
    let entry = try selection.one(in: opened)
    if !force, !vault.noInput, Descriptor.input.isTerminal {
      guard try Question.isYes("Remove \(entry.name.escapingControls())? [y/N] ") else { throw Failure.cancelled }
    }
    try about(entry.name) { try opened.remove(entry.reference) }
    opened.finish()
  }
}
