import AccessRights
import ArgumentParser
import Coffer
import CofferConsole
import CofferRequests
import VaultCore

struct BusConfirm: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "confirm", abstract: "Ask the owner before a program uses the secrets of a collection.",
    discussion: """
      Each program of the session is asked about, at the owner's display or terminal, and the owner may agree for a time. Searches and \
      labels are not asked about. If the owner cannot be asked, the program is refused.
      """)

  @Argument(help: "The collection, such as login.", completion: OfferedNames.collections)
  var name: String

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let group = try Collections.group(name)
    var audit = try AppAudit(.grant)
    (audit.group, audit.application) = (group.name, Collections.program)
    let request = GrantRequest(verb: "confirm", group: group, rights: .all, asksForConfirmation: true, groupHint: nil)
    _ = try request.grant(vault.ownedVault(), audit) { opened in
      try Collections.check(name, in: opened)
      return Collections.program
    } agree: {
    }
  }
}

struct BusTrust: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trust", abstract: "Undo coffer bus confirm: no program is asked about.")

  @Argument(help: "The collection, such as login.", completion: OfferedNames.collections)
  var name: String

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let group = try Collections.group(name)
    var audit = try AppAudit(.revoke)
    (audit.group, audit.application) = (group.name, Collections.program)
    var opened = try vault.ownedVault().apps(isReading: false)
    audit.came(to: opened)
    try audit.deciding { try opened.checkIsOwner("trust", "decides that") }
    guard try opened.grants(to: Collections.program).contains(where: { $0.group == group }) else {
      try audit.deciding { try Collections.check(name, in: opened) }
      Descriptor.error.note("note: \(name): no program is asked about\n")
      return opened.finish()
    }
    try about(name) { try audit.doing { try opened.removeGrant(to: Collections.program, group) } }
    opened.finish()
  }
}

/// The collections of the Secret Service, as `coffer-secrets` keeps them: a group for the items of each, and a note for each but the first.
enum Collections {
  static let program = OwnProgram.secretService.rawValue

  /// - Throws: usage.
  static func group(_ name: String) throws -> AccessGroup {
    guard CollectionGroup.isElement(name), name.utf8.count <= CollectionGroup.maximumNameByteCount else {
      throw Failure.usage("\(name): is not the name of a collection", hint: "letters, digits and _: coffer group list shows it")
    }
    return try CollectionGroup.group(name)
  }

  /// - Throws: not found, with the collections that there are.
  static func check(_ name: String, in opened: borrowing OpenApps) throws {
    let all = try names(in: opened)
    guard !all.contains(name) else { return }
    throw Failure(.notFound, "\(name): no such collection", hint: "name one of these", details: all.map { "collection \($0)" })
  }

  static func names(in opened: borrowing OpenApps) throws -> [String] {
    var catalog = ServedCatalog()
    for entry in try opened.entries() where entry.reference.group == .secretService { catalog.add(entry.item) }
    let named = catalog.collections.map(\.name).filter { $0 != ServedCollection.sessionName }
    return Set(try opened.groups().compactMap(CollectionGroup.name(of:)) + named).sorted()
  }
}
