import ArgumentParser
import Coffer
import VaultCore

struct SecretRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Remove an item.",
    discussion:
      "Asks at a terminal, unless --force or --no-input is given. Without a terminal nothing is asked, and the item is removed.",
    aliases: ["remove"])

  @OptionGroup var item: ItemOptions

  @Flag(help: "Do not ask.")
  var force = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let selection = try Selection(item)
    guard selection.name.field == nil else {
      throw Failure.usage("name: a field cannot be removed so", hint: "coffer secret edit NAME --remove-attr FIELD")
    }
    let items = try access.open(vault)
    let entry: Entry?
    do {
      entry = try selection.exact(in: items) ?? selection.only(in: items)
    } catch let error as SelectedIsUnreadable {
      Descriptor.error.note("note: \(Failure(error.reason, about: "\(selection.name)").message.escapingControls())\n")
      entry = nil
    }
    let name = entry?.nameWithGroup ?? "\(selection.name)"
    if !force, !vault.noInput, Descriptor.input.isTerminal {
      guard try Question.isYes("Remove \(name.escapingControls())? [y/N] ") else { throw Failure.cancelled }
    }
    try about(name) {
      if let entry {
        try items.keychain.remove(entry.reference)
      } else {
        // Its row cannot be read, and need not be.
        try items.keychain.remove(
          selection.name.item(selection.itemClass), in: selection.name.group.map { try AccessGroup($0) } ?? .standard)
      }
    }
    items.finish()
  }
}
