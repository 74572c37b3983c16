import ArgumentParser
import Coffer
import CofferConsole
import VaultCore

struct SecretList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List items, never their secrets.",
    discussion:
      "At a terminal by groups. Elsewhere in columns, separated by tabs: name, group, class, label, time of the last change.",
    aliases: ["ls"])

  @Option(help: ArgumentHelp("Only this group.", valueName: "name"), completion: OfferedNames.groups)
  var group: String?

  @Option(name: .customLong("class"), help: "Only this kind of item.")
  var itemClass: ClassName?

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    try Listing.print(group: group, itemClass, json: json, access, vault) { _ in true }
  }
}

struct SecretFind: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find", abstract: "List the items with a text in one of their attributes.",
    discussion: "Numbers and times are not looked at. Upper and lower case are the same. Nothing found is not an error.")

  @Argument(help: "A part of any text attribute.")
  var pattern: String

  @Option(
    name: .customLong("attr"), parsing: .singleValue,
    help: ArgumentHelp("Only items with exactly this attribute. May be repeated.", valueName: "name=value"))
  var attributes: [String] = []

  @Option(help: ArgumentHelp("Only this group.", valueName: "name"), completion: OfferedNames.groups)
  var group: String?

  @Option(name: .customLong("class"), help: "Only this kind of item.")
  var itemClass: ClassName?

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let wanted = try attributes.map { text in
      guard let equals = text.firstIndex(of: "=") else { throw Failure.usage("--attr \(text): needs a name and a value") }
      return (name: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
    }
    let part = pattern.lowercased()
    try Listing.print(group: group, itemClass, json: json, access, vault) { entry in
      let attributes = entry.item.attributes
      return attributes.contains { $0.value.searched?.lowercased().contains(part) ?? false }
        && wanted.allSatisfy { (attributes[$0.name] ?? attributes[Item.userPrefix + $0.name])?.text == $0.value }
    }
  }
}

private enum Listing {
  static func print(
    group: String?, _ itemClass: ClassName?, json: Bool, _ access: AccessOptions, _ options: VaultOptions,
    where isWanted: (Entry) -> Bool
  ) throws {
    let group = try group.map { try AccessGroup($0) }
    let items = try access.open(options)
    if let group, items.application == nil { try items.checkExists(group, hint: "--group names one of these") }
    let found = try about(group.map { "group \($0.name)" } ?? "list") {
      try items.keychain.listing(KeychainQuery(itemClass?.itemClass, group: group))
    }
    let entries = found.entries.shown(of: group).filter(isWanted)
      .sorted { ($0.reference.group.name, $0.name) < ($1.reference.group.name, $1.name) }
    items.finish()
    if found.unavailableCount > 0 {
      Descriptor.error.note(
        "\(counted(found.unavailableCount, "item")) of other devices cannot be read here: not shown\n")
    }
    if json {
      let objects = try entries.map { JSON.object(try $0.members()) }
      try Descriptor.output.write(JSON.array(objects).description + "\n")
    } else {
      let style = OutputStyle.current()
      let text =
        style.isTerminal ? Outline(entries).text(style: style) : Table(heading: [], rows: entries.map(\.row)).text(style: style)
      try Descriptor.output.write(text)
    }
    guard found.damagedCount == 0 else {
      throw Failure(
        .integrity, "\(counted(found.damagedCount, "record")) damaged, and not shown",
        hint: "coffer vault repair keeps what is sound; or restore a backup, or give one up: coffer secret rm SERVICE/ACCOUNT",
        details: found.damaged.map { Failure($0).message })
    }
  }
}
