import ArgumentParser
import CofferConsole
import CofferRequests

struct GroupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "group", abstract: "List, make, rename and remove groups of items.",
    subcommands: [GroupList.self, GroupCreate.self, GroupRename.self, GroupRemove.self])

  func run() throws {
    throw Failure.usage("group: a verb is missing", hint: "coffer group --help")
  }
}

struct GroupCreate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Make a group.", discussion: "secret set --create-group makes one with its first item.")

  @Argument(help: "The name of the group.")
  var name: String

  @OptionGroup var vault: VaultOptions

  func run() throws {
    try GroupChange(.createGroup, name).run(vault) { group, _ in .create(group) }
  }
}

struct GroupRename: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a group another name.",
    discussion: "Items stay sealed as they are, and grants follow. A group of a team keeps its name.", aliases: ["mv"])

  @Argument(help: "The name of the group.", completion: OfferedNames.groups)
  var name: String

  @Argument(help: "Its new name.")
  var newName: String

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let new = try GroupChange.group(newName)
    try GroupChange(.renameGroup, name).run(vault) { group, _ in .rename(group, to: new) }
  }
}
