import AccessRights
import CofferApps
import CofferConsole
import CofferRequests
import CofferWire
import VaultCore

/// The rights of a program to the items of a group, or the owner's wish to be asked, and their origin.
struct AccessRow {
  let group: AccessGroup
  /// Nil: all of the group.
  var item: Reference?
  var itemName = ""
  /// Empty: each program that has the right.
  let program: String
  let rights: Entitlements.Rights
  let reason: String
  /// Whether the owner is asked first.
  let asks: Bool
  var lease: UInt64?

  var columns: [String] { [group.name, itemName, program, rights.names, reason] }

  var json: JSON {
    .object([
      ("group", .text(group.name)), ("item", itemName.isEmpty ? .null : .text(itemName)),
      ("program", program.isEmpty ? .null : .text(program)), ("rights", .text(rights.names)), ("reason", .text(reason)),
      ("confirm", .boolean(asks)), ("lease", lease.map { .natural($0) } ?? .null),
    ])
  }
}

/// All of them that the vault, the manifests and the agent tell of.
struct AccessRows {
  let rows: [AccessRow]
  private let groups: Set<AccessGroup>

  init(in opened: borrowing OpenApps, leases: [OpenLease]) throws {
    var rows = try Self.manifests(in: opened) + Self.grants(in: opened)
    let groups = Set(try opened.groups()).union(rows.map(\.group))
    // Every program of the user can start it.
    rows += groups.filter { Caller.team(of: $0) == nil }.map {
      AccessRow(group: $0, program: Caller.commandName, rights: .all, reason: "the group belongs to no team", asks: false)
    }
    let entries = try opened.entries()
    rows += entries.compactMap { entry in
      entry.item.confirmMinutes.map { minutes in
        let lasts = minutes == 0 ? "each time" : "and may agree for \(counted(Int(clamping: minutes), "minute"))"
        return AccessRow(
          group: entry.reference.group, item: entry.reference, itemName: entry.name, program: "", rights: .read,
          reason: "the item asks its owner, \(lasts)", asks: true)
      }
    }
    let names = Dictionary(entries.map { ($0.reference, $0.name) }) { first, _ in first }
    rows += leases.map { lease in
      let reference = lease.item.map { Reference(group: lease.group, id: $0) }
      return AccessRow(
        group: lease.group, item: reference, itemName: reference.map { names[$0] ?? "\($0.id)" } ?? "", program: lease.program,
        rights: lease.rights, reason: "lease \(lease.number): the owner agreed, \(Self.left(lease.seconds)) left", asks: false,
        lease: lease.number)
    }
    self.groups = groups
    self.rows = rows.sorted {
      ($0.group.name, $0.itemName, $0.program, $0.reason) < ($1.group.name, $1.itemName, $1.program, $1.reason)
    }
  }

  private static func left(_ seconds: UInt64) -> String {
    seconds < 60 ? counted(Int(seconds), "second") : counted(Int(clamping: (seconds + 59) / 60), "minute")
  }

  private static func manifests(in opened: borrowing OpenApps) throws -> [AccessRow] {
    let apps = try AppPlace.apps()
    return try opened.pins().filter { $0.removed == nil }.flatMap { pin -> [AccessRow] in
      // Another version than the one that was installed gets nothing.
      guard let manifest = try? apps.bundle(pin.applicationIdentifier)?.signed.manifest, manifest.version == pin.version else {
        return []
      }
      return Entitlements(manifest).groups.map {
        AccessRow(
          group: $0.group, program: pin.applicationIdentifier, rights: $0.rights,
          reason: "the manifest of version \(pin.version), which is installed", asks: false)
      }
    }
  }

  private static func grants(in opened: borrowing OpenApps) throws -> [AccessRow] {
    let installed = Set(try opened.pins().filter { $0.removed == nil }.map(\.applicationIdentifier))
    return try opened.grants().filter { grant in
      // The grant of an app that was removed counts again when it is installed again.
      installed.contains(grant.application) || OwnProgram(rawValue: grant.application) != nil
        || (try? GrantedProgram(named: grant.application)) ?? nil != nil
    }.map {
      AccessRow(
        group: $0.group, program: $0.application, rights: $0.rights,
        reason: "granted \($0.created.text)\($0.asksForConfirmation ? ", after asking the owner" : "")",
        asks: $0.asksForConfirmation)
    }
  }

  /// - Parameter subject: The name of a group, or that of an item: then what concerns its group and no other item.
  /// - Throws: not found, with the groups that there are; usage.
  func of(_ subject: String, in opened: borrowing OpenApps) throws -> [AccessRow] {
    if let group = groups.first(where: { $0.name == subject }) { return rows.filter { $0.group == group } }
    guard subject.contains("/"), let entry = try opened.entry(ItemName(parsing: subject)) else {
      throw Failure(
        .notFound, "\(subject): neither a group nor an item", hint: "an item: SERVICE/ACCOUNT or coffer://GROUP/SERVICE/ACCOUNT",
        details: groups.map { "group \($0.name)" }.sorted())
    }
    return rows.filter { $0.group == entry.reference.group && ($0.item == nil || $0.item == entry.reference) }
  }
}
