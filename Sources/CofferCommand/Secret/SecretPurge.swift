import ArgumentParser
import Coffer
import CofferConsole
import Explanations
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
    let items = try access.open(vault, asOwner: true)
    let found = try selection.versioned(in: items)
    // A damaged item may have none that can be listed.
    let versions = try? items.keychain.history(of: found.reference)
    if let version {
      if let versions { try check(version, of: versions, found.name) }
      try confirm("version \(version) of \(found.name)")
    } else {
      let count = versions.map { counted($0.count { $0.state != .present }, "former version") }
      try confirm("\(count ?? "all former versions") of \(found.name)")
    }
    let count = try about(found.name) { try items.keychain.purge(found.reference, version: version) }
    try finish(items, count)
  }

  private func check(_ version: UInt64, of versions: [KeychainVersion], _ name: String) throws {
    let hint = "coffer secret history \(name.isPlainWord ? name : "NAME") lists them"
    guard let found = versions.first(where: { $0.number == version }) else {
      throw Failure(.notFound, "\(name): has no version \(version)", hint: hint)
    }
    guard found.state != .present else {
      throw Failure.usage(
        "\(name): version \(version) is the present one", hint: "to remove the item for good: coffer secret rm --purge NAME")
    }
  }

  private func purgeMany() throws {
    guard item.name == nil, item.service == nil, item.account == nil else {
      throw Failure.usage("\(deleted ? "--deleted" : "--expired"): takes no name", hint: "coffer secret purge NAME --all")
    }
    let group = try item.group.map { try AccessGroup($0) }
    let items = try access.open(vault, asOwner: deleted)
    if let group, items.application == nil { try items.checkExists(group, hint: "--group names one of these") }
    if deleted { try confirmRemoved(items, group) }
    let (count, damagedCount) = try about("purge") { try items.keychain.purgeExpired(in: group, removedItems: deleted) }
    try finish(items, count)
    guard damagedCount == 0 else {
      throw Failure(.integrity, "\(counted(damagedCount, "record")) damaged, and not looked through", hint: Hints.damage)
    }
  }

  private func confirmRemoved(_ items: OpenItems, _ group: AccessGroup?) throws {
    guard !force else { return }
    let removed = try about("purge") { try items.keychain.removedListing(KeychainQuery(group: group)).items }
    let count = try removed.reduce(0) { try $0 + items.keychain.history(of: $1.reference).count }
    let place = group.map { " of the group \($0.name)" } ?? ""
    try confirm("\(counted(count, "version")) of \(counted(removed.count, "removed item"))\(place)")
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
    Descriptor.error.note(
      "\(what.escapingControls()): would be removed for good; nothing brings it back but a backup made before\n")
    guard try isWord("yes", "Type yes to go on: ") else { throw Failure.cancelled }
  }
}
