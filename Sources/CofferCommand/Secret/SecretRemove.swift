import AccessRights
import ArgumentParser
import Coffer
import CofferConsole
import CofferRequests
import VaultCore
import VaultUpkeep

struct SecretRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Remove an item.",
    discussion: """
      Asks at a terminal, unless --force or --no-input is given. Without a terminal nothing is asked, and the item is removed. \
      coffer secret restore brings it back, for as long as the policy of the vault keeps it. With --purge, and if nothing of the item can \
      be kept, it is removed for good: then the word "yes" is asked for, and without a terminal --force is needed.
      """,
    aliases: ["remove"])

  @OptionGroup var item: ItemOptions

  @Option(help: "Instead of a name, the id that \"vault verify\" prints. Opens the vault here.")
  var id: String?

  @Flag(help: "Do not ask.")
  var force = false

  @Flag(help: "With all of its versions, so that it cannot be restored.")
  var purge = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    if let id { return try remove(id) }
    let selection = try Selection(item)
    guard selection.name.field == nil else {
      throw Failure.usage("name: a field cannot be removed so", hint: "coffer secret edit NAME --remove-attr FIELD")
    }
    let items = try access.open(vault, asOwner: purge)
    let entry: Entry?
    do {
      entry = try selection.exact(in: items) ?? selection.only(in: items)
    } catch let error as SelectedIsUnreadable {
      Descriptor.error.note("note: \(Failure(error.reason, about: "\(selection.name)").message.escapingControls())\n")
      entry = nil
    }
    let companions = try entry.map { try items.companions(of: $0) } ?? []
    let name = entry?.nameWithGroup ?? "\(selection.name)"
    if purge, !force {
      try Question.confirmRemovalForGood(of: "\(name) with all of its versions\(Self.text(companions))", vault)
    } else if !purge {
      try confirm(name + Self.text(companions))
    }
    var removal = ItemRemoval(vault, isForced: force || purge)
    // First, so that the same command removes the others if it is interrupted.
    for companion in companions {
      let isKept = try removal.remove(companion.nameWithGroup) { try remove(companion, in: items, mustKeep: $0) }
      Self.note(companion.nameWithGroup, isKept: isKept, isPurged: purge)
    }
    let isKept = try removal.remove(name) { mustKeep in
      guard let entry else {
        // Its row cannot be read, and need not be.
        return try items.keychain.remove(
          selection.name.item(selection.itemClass), in: selection.name.group.map { try AccessGroup($0) } ?? .standard,
          mustKeep: mustKeep)
      }
      return try remove(entry, in: items, mustKeep: mustKeep)
    }
    items.finish()
    Self.note(name, isKept: isKept, isPurged: purge)
  }

  /// - Returns: Whether it can be restored.
  private func remove(_ entry: Entry, in items: OpenItems, mustKeep: Bool) throws -> Bool {
    guard purge else { return try items.keychain.remove(entry.reference, mustKeep: mustKeep) }
    try items.keychain.removeForGood(entry.reference)
    return false
  }

  /// As the end of a question.
  private static func text(_ companions: [Entry]) -> String {
    companions.isEmpty ? "" : " and " + companions.map(\.name).joined(separator: ", ")
  }

  private static func note(_ name: String, isKept: Bool, isPurged: Bool) {
    if isPurged {
      Descriptor.error.note(Question.backupsNote)
    } else if isKept {
      Descriptor.error.hintAtTerminal("to get it back: coffer secret restore \(name)")
    } else {
      ItemRemoval.noteLoss(of: name)
    }
  }

  private func confirm(_ name: String) throws {
    guard !force, !vault.noInput, Descriptor.input.isTerminal else { return }
    guard try Question.isYes("Remove \(name.escapingControls())? [y/N] ") else { throw Failure.cancelled }
  }

  /// For an item that no name can be given for, or that cannot be read: neither the agent nor a rule knows what it is, so it takes the
  /// owner's credential.
  private func remove(_ text: String) throws {
    guard item.name == nil, item.service == nil, item.account == nil, item.group == nil else {
      throw Failure.usage("--id: takes no name beside it")
    }
    guard access.application == nil, !vault.system else { throw Failure.usage("--id: for a vault that is opened here") }
    let digits = Array(text.utf8)
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { at in
      UInt8(String(decoding: digits[at..<at + 2], as: UTF8.self), radix: 16)
    }
    guard digits.count == 32, let id = Identifier(bytes) else {
      throw Failure.usage("--id: 32 hexadecimal digits are needed", hint: "coffer vault verify prints them")
    }
    let place = try vault.openPlace()
    var opened = try vault.open(place)
    guard try opened.isOpenedByOwner() else {
      throw Failure(KeychainError(.missingEntitlement, "only the owner removes by id"), about: place.path)
    }
    if !force { try Question.confirmRemovalForGood(of: "the item \(text)", vault) }
    try about("item \(text)") {
      try opened.remove(id)
      // The item is removed. If this fails, the next purge finds its former versions.
      _ = try? opened.purgeExpired(at: .now())
    }
    opened.finish()
  }
}
