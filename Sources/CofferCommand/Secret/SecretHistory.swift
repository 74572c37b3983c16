import ArgumentParser
import Coffer
import CofferConsole
import Explanations
import SecretMemory
import VaultCore

struct SecretHistory: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "List the versions of an item, or the removed items.",
    discussion: """
      Columns: version, time and state. The present version has the time since which it is the present one, a former one the time until \
      which it was, when it was changed or removed: so the two newest have the same time. With --deleted the name, group, \
      last version and time. Never a value: coffer secret get NAME --version N writes one. The vault keeps as many versions as its policy \
      allows: coffer vault policy.
      """)

  @OptionGroup var item: ItemOptions

  @Flag(help: "List the removed items that can be restored.")
  var deleted = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    if deleted { return try listRemoved() }
    let selection = try Selection(item)
    let items = try access.open(vault)
    let found = try selection.versioned(in: items)
    let versions = try about(found.name) { try items.keychain.history(of: found.reference) }
    items.finish()
    if json {
      let objects = versions.map { version in
        JSON.object([
          ("version", .natural(version.number)), ("time", version.time.map { .text($0.text) } ?? .null),
          ("state", .text(version.state.rawValue)),
        ])
      }
      return try Descriptor.output.write(JSON.array(objects).description + "\n")
    }
    let rows = versions.map { ["\($0.number)", $0.time?.text ?? "", $0.state.rawValue] }
    try Descriptor.output.write(Table(heading: ["VERSION", "TIME", "STATE"], rows: rows).text(style: .current()))
  }

  private func listRemoved() throws {
    guard item.name == nil, item.service == nil, item.account == nil else { throw Failure.usage("--deleted: takes no name") }
    let group = try item.group.map { try AccessGroup($0) }
    let items = try access.open(vault)
    let found = try about("history") { try items.keychain.removedListing(KeychainQuery(group: group)) }
    let removed = found.items.sorted { ($0.reference.group.name, $0.name) < ($1.reference.group.name, $1.name) }
    items.finish()
    try Descriptor.output.write(json ? Self.json(removed) : Self.text(removed))
    if let damage = found.damage {
      throw Failure(
        .integrity, "\(counted(found.damagedCount, "record")) damaged, and not shown", hint: Hints.damage,
        details: [Failure(damage).message])
    }
  }

  private static func json(_ removed: [RemovedItem]) -> String {
    let objects = removed.map { item in
      JSON.object([
        ("name", .text(item.name)), ("group", .text(item.reference.group.name)),
        ("class", .text(ClassName(item.item.itemClass).rawValue)), ("version", .natural(item.version)),
        ("time", .text(item.removed.text)),
      ])
    }
    return JSON.array(objects).description + "\n"
  }

  private static func text(_ removed: [RemovedItem]) -> String {
    let rows = removed.map { [$0.name, $0.reference.group.name, "\($0.version)", $0.removed.text] }
    return Table(heading: ["NAME", "GROUP", "VERSION", "REMOVED"], rows: rows).text(style: .current())
  }
}

extension RemovedItem {
  var name: String { item.name(in: reference.group) }
  var nameWithGroup: String { item.nameWithGroup(reference.group) }
}

/// An item with versions: it is there, or was removed.
struct Versioned {
  let reference: Reference
  let name: String
  let isRemoved: Bool
}

extension Selection {
  /// The item that is meant, or else the removed one of this name.
  /// - Throws: `notFound`, `severalMatch`.
  func versioned(in items: OpenItems) throws -> Versioned {
    guard name.field == nil else { throw Failure.usage("name: a field has no versions of its own") }
    let missing: Failure
    do {
      let entry = try one(in: items)
      return Versioned(reference: entry.reference, name: entry.nameWithGroup, isRemoved: false)
    } catch let failure as Failure {
      guard failure.status == .notFound else { throw failure }
      missing = failure
    }
    let removed = try self.removed(in: items)
    guard let first = removed.first else { throw missing }
    guard removed.count == 1 else {
      throw Failure(
        .severalMatch, "\(name): \(removed.count) removed items match", hint: "name one: SERVICE/ACCOUNT",
        details: removed.map(\.nameWithGroup).sorted())
    }
    return Versioned(reference: first.reference, name: first.nameWithGroup, isRemoved: true)
  }

  /// The removed items that are meant: the one of exactly this name, or else all of the service.
  private func removed(in items: OpenItems) throws -> [RemovedItem] {
    let query = KeychainQuery(itemClass, group: try group(items), attributes: try name.item(itemClass).attributes)
    var exact = query
    for (name, absent) in itemClass.primaryAttributes where exact.attributes[name] == nil { exact.attributes[name] = absent }
    let named = try about("\(name)") { try items.keychain.removedListing(exact).items }
    guard named.isEmpty, exact != query else { return named }
    let found = try about("\(name)") { try items.keychain.removedListing(query) }
    if found.damage != nil {
      Descriptor.error.note("note: \(counted(found.damagedCount, "record")) damaged, and not searched: \(Hints.damage)\n")
    }
    return found.items
  }
}

extension Entry {
  /// - Parameter keychain: In which its value was just replaced: the policy may keep none.
  func hintAtRestoring(in keychain: Keychain) {
    guard Descriptor.error.isTerminal, let versions = try? keychain.history(of: reference),
      versions.contains(where: { $0.state == .changed })
    else { return }
    Descriptor.error.hintAtTerminal("to get the value before back: coffer secret restore \(nameWithGroup)")
  }
}

extension Descriptor {
  /// One line for a person, after a command that overwrites or removes.
  func hintAtTerminal(_ text: String) {
    guard isTerminal, Descriptor.input.isTerminal else { return }
    note("hint: \(text.escapingControls())\n")
  }
}

extension AccessOptions {
  /// Does `work` with the versions of an item. An agent asks its owner at the terminal or display of the unlocking alone. If it cannot, a
  /// person at another terminal is asked for a credential.
  func withVersions<Result: ~Copyable>(
    of selection: Selection, _ options: VaultOptions, _ work: (Keychain, Versioned) throws -> Result
  ) throws -> Result {
    let items = try open(options)
    let found = try selection.versioned(in: items)
    do {
      let result = try work(items.keychain, found)
      items.finish()
      return result
    } catch let error as KeychainError
      where error.code == .confirmationNeeded && application == nil && !noAgent && options.isAnybodyThere
    {
      // Goes on below.
    } catch { throw Failure(error, about: found.name) }
    let opened = try openAsOwner(options, found.name)
    let result = try about(found.name) { try work(opened.keychain, found) }
    opened.finish()
    return result
  }

  /// Asks for a credential, though an agent has the vault open.
  /// - Parameter subject: The thing that the owner has to agree to.
  func openAsOwner(_ options: VaultOptions, _ subject: String) throws -> OpenItems {
    Descriptor.error.note("note: \(subject.escapingControls()): the owner has to agree\n")
    var access = self
    access.noAgent = try options.systemAgent() == nil
    return try access.open(options, asOwner: true)
  }
}

extension OpenItems {
  func haveVersions(_ entries: [Entry]) throws -> Bool {
    try entries.contains { entry in
      try about(entry.nameWithGroup) { try keychain.history(of: entry.reference).contains { $0.state != .present } }
    }
  }
}
