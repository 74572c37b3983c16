import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferSync
import Glibc
import SyncEngines
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
        record.person, record.name, "\(record.role)", String(record.id.description.prefix(16)),
        replica.lastEntries[record.id].map { "\($0.number)" } ?? "",
      ]
    }
    try Descriptor.output.write(Table(heading: ["PERSON", "DEVICE", "ROLE", "ID", "LAST"], rows: rows).text(style: .current()))
  }
}

/// How long the two sides of an exchange wait for each other, in milliseconds.
let patience = 600_000

extension Descriptor {
  /// - Returns: The next line, or 64 bytes of a longer one; nil at the end.
  borrowing func line() throws -> [UInt8]? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while line.count < 64 {
      guard try unsafe withUnsafeMutableBytes(of: &byte, { try unsafe read(into: $0) }) == 1 else {
        return line.isEmpty ? nil : line
      }
      if byte == 10 { return line }
      line.append(byte)
    }
    return line
  }
}

struct SyncAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add the device that shows a code.",
    discussion: "Asks for the number that the device shows then. Members add devices of their own person; owners add any.")

  @Argument(help: ArgumentHelp("The code that coffer sync join shows.", valueName: "code"))
  var code: String

  @Option(help: ArgumentHelp("owner, member or reader.", valueName: "role"))
  var role = Role.member

  @OptionGroup var space: SpaceOptions

  func run() throws {
    guard let place = Exchange.mailbox(code) else {
      throw Failure.usage("\(code): is not a code of 8 consonants", hint: "coffer sync join shows it")
    }
    let session = try space.session()
    // The new device reads all of the log.
    let report = try session.finish(inspects: true)
    if let error = report.inspection.unrestored { throw error }
    guard !report.inspection.lacksEntries else {
      throw Failure(
        .inputOutput, "the engine has lost entries that a new device needs, and this device does not keep them",
        hint: "add it on another device, or restore the engine from a backup")
    }
    guard !report.lacksParts else {
      throw Failure(
        .inputOutput, "the engine has lost parts of a checkpoint that a new device needs",
        hint: "on the device of an owner: coffer sync now; or add it there")
    }
    let address = try OpenSpace.address(session.state.engine)
    let exchange = Exchange(try mailbox(place, address), until: Deadline(milliseconds: patience))
    // Other commands work meanwhile.
    session.rest()
    var isAnswered = false
    do {
      try exchange.add(session.state.replica, as: role, ask: ask) { record in
        isAnswered = true
        return try welcome(record, session)
      }
    } catch let error as EngineFailure where error.isMissing && !isAnswered {
      throw Failure(.notFound, "\(code): the device has ended", hint: "there: coffer sync join \(address)")
    }
  }

  private func welcome(_ record: DeviceRecord, _ session: SpaceSession) throws -> Welcome {
    try session.resume()
    try session.add(record)
    _ = try session.finish()
    guard session.state.replica.membership[record.id] != nil, let welcome = Welcome(session.state.replica) else {
      throw SyncError(.notAllowed, "\(record.person), \(record.name)")
    }
    return welcome
  }

  private func mailbox(_ place: Identifier, _ address: EngineAddress) throws -> any Engine {
    do {
      return try OpenSpace.connect(address, place, .mailbox)
    } catch {
      guard error.isMissing else { throw error }
      throw Failure(.notFound, "\(code): no device waits under this code", hint: "there: coffer sync join \(address)")
    }
  }

  private func ask(_ record: DeviceRecord) throws -> UInt64 {
    Descriptor.error.note(
      "\(record.name.escapingControls()) of \(record.person.escapingControls()), as \(role). The number that it shows: ")
    let digits = try Descriptor.input.line()?.filter { (48...57).contains($0) } ?? []
    guard !digits.isEmpty else { throw Failure(.cancelled, "no number was typed: nothing has been changed") }
    guard digits.count == 8, let number = UInt64(String(decoding: digits, as: UTF8.self)) else { throw SyncError(.wrongNumber) }
    return number
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
    guard let record = records.first, records.count == 1 else { throw SyncError(.severalDevices, device) }
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
