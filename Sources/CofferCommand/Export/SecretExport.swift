import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import SecretMemory
import VaultCore

struct SecretExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Copy items into a new vault with a credential of its own, or into plain text.",
    discussion: """
      All items, or those of names and groups; a SERVICE alone means all of its accounts. The new passphrase is typed twice, unless \
      --new-key-file or --new-passphrase-fd is given. Former versions and rights stay here, and so do items of this device only and those \
      that go with their app. On the other machine: coffer import coffer FILE. With --format the file is plain text for another program; \
      each part that the format cannot hold is listed.
      """)

  @Argument(
    help: ArgumentHelp("SERVICE/ACCOUNT, SERVICE or coffer://GROUP/SERVICE/ACCOUNT.", valueName: "name"),
    completion: OfferedNames.items)
  var names: [String] = []

  @Option(help: ArgumentHelp("The new file; with --format also - for standard output.", valueName: "file"), completion: .file())
  var to: String

  @Option(help: ArgumentHelp("Plain text: csv, bitwarden or dotenv.", valueName: "format"))
  var format: PlainFormat?

  @Option(
    name: .customLong("group"), help: ArgumentHelp("Only this group. May be repeated.", valueName: "name"),
    completion: OfferedNames.groups)
  var groups: [String] = []

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var new: NewSlotOptions
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let choice = try ItemChoice(names: names, groups: groups)
    if let format { return try runInPlainText(format, choice) }
    guard to != "-" else { throw Failure.usage("--to -: an export is a file", hint: "name one, and copy that") }
    let work = try LongWork("copying")
    let export = try about(to) { try VaultExport(at: to, besides: vault.path()) }
    try work.pause()
    let keyFile = try new.openedKeyFile()
    let items = try access.open(vault)
    var (entries, unreadableCount) = try listed(choice, items)
    let leftOut = LeftOut(of: &entries, unreadableCount: unreadableCount)
    guard !entries.isEmpty else {
      throw Failure(.notFound, "nothing to export: no item can be copied", details: leftOut.lines)
    }
    let credential = try credential(keyFile)
    try work.begin("copying")
    do {
      try export.finish(with: credential, kdf: new.kdf ?? .standard, at: .now()) { target in
        try target.commitInBatches(entries.enumerated()) { element, transaction in
          try work.step(UInt64(element.offset), of: UInt64(entries.count))
          return try about(element.element.nameWithGroup) { try items.copy(element.element, to: &transaction) }
        }
      }
    } catch {
      throw Failure(error, about: to)
    }
    work.end()
    items.finish()
    try report(entries, leftOut)
  }

  private func runInPlainText(_ format: PlainFormat, _ choice: ItemChoice) throws {
    guard !new.hasPassphrase, new.newKeyFile == nil, !new.lowMemory else {
      throw Failure.usage(
        "--format \(format.rawValue): plain text has no credential", hint: "without --format the file is a vault")
    }
    guard !json || to != "-" else { throw Failure.usage("--json: standard output has the items already", hint: "--to FILE") }
    let export = try about(to) { try PlainExport(format, to: to) }
    let agent = try vault.ownedVault().agentItems(access)
    let items = try agent ?? access.open(vault, vault.openPlace())
    var (entries, unreadableCount) = try listed(choice, items)
    // Without names they are among the others.
    if !names.isEmpty {
      for entry in entries {
        let known = Set(entries.map(\.reference))
        entries += try items.companions(of: entry).filter { !known.contains($0.reference) }
      }
    }
    let leftOut = LeftOut(of: &entries, unreadableCount: unreadableCount)
    guard !entries.isEmpty else {
      throw Failure(.notFound, "nothing to export: no item can be copied", details: leftOut.lines)
    }
    let isForOwner = try agent != nil && format.holdsVersions && vault.isAnybodyThere && items.haveVersions(entries)
    do {
      try export.run(entries, leftOut, in: isForOwner ? access.openAsOwner(vault, "former versions") : items, asJSON: json)
    } catch let error as FileError {
      throw Failure(error, about: to)
    }
  }

  private func listed(_ choice: ItemChoice, _ items: OpenItems) throws -> ([Entry], Int) {
    guard try !items.keychain.isLocked else { throw Failure(VaultError(.locked), about: "the vault") }
    let listings = try items.listings(of: choice.searchedGroups())
    let damagedCount = listings.reduce(0) { $0 + $1.damagedCount }
    // With names the rest of the vault does not matter.
    guard damagedCount == 0 || !names.isEmpty else {
      throw Failure(
        .integrity, "\(counted(damagedCount, "record")) damaged: the export would not be complete",
        hint: "name the items to export, or: coffer vault repair",
        details: listings.flatMap(\.damaged).map { Failure($0).message })
    }
    let unavailableCount = listings.reduce(0) { $0 + $1.unavailableCount }
    return (
      try choice.chosen(of: listings.flatMap(\.entries), unreadableCount: unavailableCount),
      names.isEmpty ? unavailableCount : 0
    )
  }

  private func credential(_ keyFile: Descriptor?) throws -> Credential {
    Hardening.hide()
    do {
      return try new.credential(keyFile, isInputAllowed: !vault.noInput, asksAlways: new.newKeyFile == nil)
    } catch {
      guard let failure = error as? Failure, failure.status == .locked else { throw Failure(error, about: to) }
      throw Failure(
        .locked, "\(to): needs a passphrase, which cannot be asked for here",
        hint: "--new-passphrase-fd N, --new-key-file FILE, or a terminal")
    }
  }

  private func report(_ entries: [Entry], _ leftOut: LeftOut) throws {
    guard !json else {
      let exported = entries.map { JSON.object([("name", .text($0.name)), ("group", .text($0.reference.group.name))]) }
      let members: [(String, JSON)] = [("path", .text(to)), ("items", .array(exported))] + leftOut.members
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    try Descriptor.output.write("\(to.escapingControls()): \(counted(entries.count, "item"))\n")
    leftOut.note()
  }
}

extension OpenItems {
  /// - Parameter groups: nil for all.
  /// - Throws: not found for a group that is not there.
  fileprivate func listings(of groups: [AccessGroup]?) throws -> [KeychainListing] {
    guard let groups else { return [try about("export") { try keychain.listing(KeychainQuery()) }] }
    return try groups.map { group in
      if application == nil { try checkExists(group, hint: "--group names one of these") }
      return try about("group \(group.name)") { try keychain.listing(KeychainQuery(group: group)) }
    }
  }

  /// One item, with its group if the other vault does not have that.
  /// - Returns: The number of bytes of the item.
  fileprivate func copy(_ entry: Entry, to target: inout Transaction) throws -> Int {
    let group = entry.reference.group
    let secret = try keychain.secret(of: entry.reference, purpose: "to export it")
    if try !target.contains(group) { try target.createGroup(group, at: .now()) }
    try target.add(entry.item, secret: secret, to: group, accessible: entry.accessibility, at: .now())
    return secret.count + entry.item.encoded.count
  }
}
