import ArgumentParser
import CofferConsole
import CofferSync
import VaultCore
import VaultSync

extension Role: ExpressibleByArgument {
  public init?(argument: String) {
    guard let role = Role.allCases.first(where: { "\($0)" == argument }) else { return nil }
    self = role
  }

  public static var allValueStrings: [String] { allCases.map { "\($0)" } }
  public var defaultValueDescription: String { "\(self)" }
}

struct SyncMembers: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "members", abstract: "List the devices of the space.",
    discussion: "The last column is the number of the last entry that the device has made.")

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.session(isLocked: false)
    let replica = session.state.replica
    let devices = replica.membership.devices.values.sorted { ($0.person, $0.name, $0.id) < ($1.person, $1.name, $1.id) }
    let rows = devices.map { record in
      [
        record.person, record.name, "\(record.role)", record.shortIdentifier,
        replica.lastEntries[record.id].map { "\($0.number)" } ?? "",
      ]
    }
    try Descriptor.output.write(Table(heading: ["PERSON", "DEVICE", "ROLE", "ID", "LAST"], rows: rows).text(style: .current()))
  }
}

struct SyncRole: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "role", abstract: "Give a device another role: owner, member or reader.",
    discussion: "One owner stays, because no other role can change the members of the space.")

  @Argument(help: ArgumentHelp("Its name or its identifier.", valueName: "device"))
  var device: String

  @Argument(help: ArgumentHelp("owner, member or reader.", valueName: "role"))
  var role: Role

  @Flag(help: "Also if no owner but a recovery key would be left.")
  var force = false

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.session()
    _ = try session.finish()
    let records = try session.devices(device)
    guard let record = records.first, records.count == 1 else { throw SpaceSession.severalDevices(device, records) }
    guard record.role != role else { return Descriptor.error.note("note: it has this role already\n") }
    let isOwn = record.id == session.state.replica.id
    // Without any other owner the log refuses it, also with --force.
    guard !isOwn || force || session.canGiveRole || session.refusal([record.id]).code == .lastOwner else {
      throw SyncError(.lastLivingOwner)
    }
    try session.setRole(record.id, role)
    _ = try session.finish()
    guard session.state.replica.membership[record.id]?.role == role else { throw session.refusal([record.id]) }
  }
}

struct SyncRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a device, or all devices of a person.",
    discussion: """
      They read nothing that is written from then on. They keep what they have read: give those secrets new values where they are \
      used, and then here.
      """)

  @Argument(help: ArgumentHelp("The name of a device, its identifier, or a person.", valueName: "name"))
  var name: String

  @Flag(help: "Ask them as well to erase the items of the space, with former versions. They obey if they run this program.")
  var erase = false

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.session()
    _ = try session.finish()
    let ids = try session.devices(name).map(\.id)
    let read = session.offeredGroups()
    try session.remove(ids, erase: erase)
    _ = try session.finish()
    guard ids.allSatisfy({ session.state.replica.membership[$0] == nil }) else { throw session.refusal(ids, isRemoval: true) }
    let groups = read.sorted { $0.key < $1.key }.map { "\($0.key) (\(counted($0.value, "item")))" }
    if !groups.isEmpty {
      Descriptor.error.note("It could read: \(groups.joined(separator: ", ")). Give these secrets new values at their sources.\n")
    }
  }
}
