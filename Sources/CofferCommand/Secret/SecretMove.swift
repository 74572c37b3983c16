import ArgumentParser
import Coffer
import CofferConsole
import VaultCore

/// An item, and the name and group that it gets.
struct NewNameOptions: ParsableArguments {
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

  struct Target {
    let selection: Selection
    /// An item of the new name. Nil: the name stays.
    let renamed: Item?
    /// Nil: the group stays.
    let group: AccessGroup?
  }

  /// Called before anything is opened.
  /// - Throws: usage.
  func checked(_ verb: String, isInputAllowed: Bool) throws -> Target {
    let selection = try Selection(name: name, group: group, itemClass.itemClass)
    let target = try newName.map { (text) throws(Failure) in try ItemName(parsing: text) }
    guard toGroup != nil || newName != nil else {
      throw Failure.usage("\(verb): where to?", hint: "coffer secret \(verb) NAME NEWNAME, or --to-group GROUP")
    }
    guard selection.name.field == nil, target?.field == nil else {
      throw Failure.usage("name: \(verb) takes items, not their fields")
    }
    guard toGroup == nil || target?.group == nil || toGroup == target?.group else {
      throw Failure.usage("group: the new name says one, --to-group another")
    }
    if let target { try plainText.check(target, typed: newName, isInputAllowed: isInputAllowed) }
    let renamed = try target.map { (target) throws(Failure) in try target.item(itemClass.itemClass) }
    return Target(selection: selection, renamed: renamed, group: try (toGroup ?? target?.group).map { try AccessGroup($0) })
  }
}

struct SecretMove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Give an item another name, or another group.",
    discussion: "Its secret and all other attributes stay as they are.", aliases: ["rename"])

  @OptionGroup var names: NewNameOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let target = try names.checked("move", isInputAllowed: !vault.noInput)
    let items = try access.open(vault)
    let entry = try target.selection.one(in: items)
    let newGroup = target.group ?? entry.reference.group
    try items.checkCanAdd(to: newGroup, isCreated: names.createGroup)
    let companions = try items.companions(of: entry).map { ($0, try target.renamed?.companion($0.field(of: entry))) }
    // The item last, so that the same command moves the others if it is interrupted.
    let moves = companions + [(entry, target.renamed)]
    for (entry, renamed) in moves {
      try about(names.newName ?? entry.name) { try items.checkIsFree(entry.item.renamed(as: renamed), in: newGroup, for: entry) }
    }
    for (entry, renamed) in moves {
      try about(names.newName ?? entry.name) {
        // As it is then: another process may have changed it since it was found.
        _ = try items.keychain.move(entry.reference, to: newGroup) { $0 = $0.renamed(as: renamed) }
      }
    }
    items.finish()
    Descriptor.error.hintAtTerminal("to undo it: coffer secret move with the names exchanged")
  }
}

struct SecretDuplicate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "duplicate", abstract: "Add a second item with the secret and the attributes of another one.",
    discussion: "Former versions stay with the first.")

  @OptionGroup var names: NewNameOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let target = try names.checked("duplicate", isInputAllowed: !vault.noInput)
    let items = try access.open(vault)
    let entry = try target.selection.one(in: items)
    let group = target.group ?? entry.reference.group
    try items.checkCanAdd(to: group, isCreated: names.createGroup)
    try about(names.newName ?? entry.name) {
      let secret = try items.keychain.secret(of: entry.reference, purpose: "duplicate \(entry.nameWithGroup)")
      var item = entry.item.renamed(as: target.renamed)
      for (name, _) in item.attributes where !AttributeName.isSettable(name) { item.attributes[name] = nil }
      try items.keychain.add(item, secret: secret, group: group, accessible: entry.accessibility)
    }
    items.finish()
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
