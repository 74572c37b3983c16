import ArgumentParser
import Coffer
import CofferConsole
import VaultCore

struct SecretMove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Give an item another name, or another group.",
    discussion: "Its secret and all other attributes stay as they are.")

  @Argument(help: "The item as it is called now.", completion: OfferedNames.items)
  var name: String

  @Argument(help: "Its new name.")
  var newName: String?

  @Option(help: ArgumentHelp("The group it is in.", valueName: "name"), completion: OfferedNames.groups)
  var group: String?

  @Option(help: ArgumentHelp("The group it goes to.", valueName: "name"), completion: OfferedNames.groups)
  var toGroup: String?

  @Flag(help: "Make the group if it is not there.")
  var createGroup = false

  @Option(name: .customLong("class"), help: "The kind of item.")
  var itemClass: ClassName = .genericPassword

  @OptionGroup var plainText: PlainTextOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let selection = try Selection(name: name, group: group, itemClass.itemClass)
    let target = try newName.map { (text) throws(Failure) in try ItemName(parsing: text) }
    guard toGroup != nil || newName != nil else {
      throw Failure.usage("move: where to?", hint: "coffer secret move NAME NEWNAME, or --to-group GROUP")
    }
    guard selection.name.field == nil, target?.field == nil else { throw Failure.usage("name: a field cannot be moved") }
    guard toGroup == nil || target?.group == nil || toGroup == target?.group else {
      throw Failure.usage("group: the new name says one, --to-group another")
    }
    if let target { try plainText.check(target, typed: newName, isInputAllowed: !vault.noInput) }
    let renamed = try target.map { (target) throws(Failure) in try target.item(itemClass.itemClass) }
    let wantedGroup = try (toGroup ?? target?.group).map { try AccessGroup($0) }
    let items = try access.open(vault)
    let entry = try selection.one(in: items)
    let newGroup = wantedGroup ?? entry.reference.group
    try items.checkCanAdd(to: newGroup, isCreated: createGroup)
    try about(newName ?? entry.name) {
      // As it is then: somebody else may have changed it since it was found.
      _ = try items.keychain.move(entry.reference, to: newGroup) { $0 = $0.renamed(as: renamed) }
    }
    items.finish()
    Descriptor.error.hintAtTerminal("to undo it: coffer secret move with the names exchanged")
  }
}

extension Item {
  /// The same item under the name of another one.
  func renamed(as other: Item?) -> Item {
    guard let other else { return self }
    var result = self
    let names = AttributeName.named(itemClass)
    result.attributes[names.service] = other.attributes[names.service]
    if let account = names.account { result.attributes[account] = other.attributes[account] }
    for name in ["protocol", "port", "path"] {
      if let value = other.attributes[name] { result.attributes[name] = value }
    }
    return result
  }
}
