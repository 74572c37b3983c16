import ArgumentParser
import Coffer
import CofferConsole
import VaultCore

struct SecretPurge: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Remove former versions for good.",
    discussion: """
      One version, all former versions of an item, all removed items, or those beyond the limits of the policy (coffer vault policy). The \
      word "yes" is asked for, but not for the last; without a terminal --force is needed. Backups and copies of the vault made before \
      still hold the values.
      """)

  @OptionGroup var item: ItemOptions

  @Option(help: ArgumentHelp("Only this version, as coffer secret history lists it.", valueName: "n"))
  var version: UInt64?

  @Flag(help: "All former versions of the item; of a removed item all.")
  var all = false

  @Flag(help: "All removed items, with all of their versions.")
  var deleted = false

  @Flag(help: "Former versions beyond the limits of the policy.")
  var expired = false

  @Flag(help: "Do not ask.")
  var force = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard [version != nil, all, deleted, expired].count(where: \.self) == 1 else {
      throw Failure.usage("purge: one of --version N, --all, --deleted and --expired is needed")
    }
    if deleted || expired { return try purgeMany() }
    let selection = try Selection(item)
    let items = try access.open(vault)
    let found = try selection.versioned(in: items)
    try confirm(version.map { "version \($0) of \(found.name)" } ?? "all former versions of \(found.name)")
    let count = try about(found.name) { try items.keychain.purge(found.reference, version: version) }
    try finish(items, count)
  }

  private func purgeMany() throws {
    guard item.name == nil, item.service == nil, item.account == nil else {
      throw Failure.usage("\(deleted ? "--deleted" : "--expired"): takes no name", hint: "coffer secret purge NAME --all")
    }
    let group = try item.group.map { try AccessGroup($0) }
    let items = try access.open(vault)
    if let group, items.application == nil { try items.checkExists(group, hint: "--group names one of these") }
    if deleted { try confirm("all removed items\(group.map { " of the group \($0.name)" } ?? "")") }
    let (count, damagedCount) = try about("purge") { try items.keychain.purgeExpired(in: group, removedItems: deleted) }
    try finish(items, count)
    guard damagedCount == 0 else {
      throw Failure(.integrity, "\(counted(damagedCount, "record")) damaged, and not looked through", hint: Hints.damage)
    }
  }

  private func confirm(_ what: String) throws {
    if !force { try Question.confirmRemovalForGood(of: what, vault) }
  }

  private func finish(_ items: OpenItems, _ count: Int) throws {
    items.finish()
    try Descriptor.output.write("\(counted(count, "version")) removed\n")
    if count > 0 { Descriptor.error.note(Question.backupsNote) }
  }
}

extension Question {
  static let backupsNote = "note: backups and copies of the vault made before still hold the value\n"

  /// - Throws: `locked` if there is no person to ask; `cancelled`, unless the word "yes" is typed.
  static func confirmRemovalForGood(of what: String, _ vault: VaultOptions) throws {
    guard vault.isAnybodyThere else { throw unanswered(what, "--force") }
    Descriptor.error.note("\(what.escapingControls()): would be removed for good; nothing brings it back but a backup\n")
    guard try isWord("yes", "Type yes to go on: ") else { throw Failure.cancelled }
  }
}
