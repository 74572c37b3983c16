import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferSync
import Glibc
import SyncEngines
import VaultCore
import VaultSync

/// How long the two sides of an exchange wait for each other, in milliseconds.
let patience = 600_000

extension Descriptor {
  /// - Parameter check: Called while nothing comes; an error ends it.
  /// - Returns: The next line, or 64 bytes of a longer one; nil at the end.
  borrowing func line(check: () throws -> Void = {}) throws -> [UInt8]? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while line.count < 64 {
      var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      repeat { try check() } while unsafe poll(&entry, 1, 200) == 0
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
    do {
      try add(place)
    } catch var failure as EngineFailure {
      failure.purpose = .addDevice
      throw failure
    }
  }

  private func add(_ place: Identifier) throws {
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
    let mailbox = try mailbox(place, address)
    // A signal ends the exchange, and not the process: the other device is told.
    let signals = WaitingSignals()
    // One that has come while the device was added is too late, and must not keep the command from its last words.
    defer { while (try? signals.check()) == nil {} }
    let exchange = Exchange(mailbox, until: Deadline(milliseconds: patience), check: signals.check)
    // Other commands work meanwhile.
    session.rest()
    let replica = session.state.replica
    var new: DeviceRecord?
    do {
      try exchange.add(replica, as: role) { record in
        guard replica.membership.allows(adding: record, by: replica.id) else { throw Self.notAllowed(record) }
        note(namesakes: replica.membership.devices.values.filter { $0.name.order(record.name) == 0 })
        return try ask(record, signals)
      } add: { record in
        try session.resume()
        try session.add(record)
        new = record
        return try welcome(record, session)
      }
    } catch let error as EngineFailure where error.isMissing && new == nil {
      throw SyncError(.joinEnded)
    } catch {
      guard let new, SyncError(.notAllowed) != error as? SyncError else { throw error }
      throw Self.failure(error, after: new, isMember: session.state.replica.membership[new.id] != nil)
    }
  }

  /// A device that does not join is a member all the same.
  static func failure(_ error: any Error, after new: DeviceRecord, isMember: Bool) -> Failure {
    let failure = Failure(error)
    let place = isMember ? "is a device of the space now" : "becomes a device of the space with the next coffer sync now"
    return Failure(
      failure.status, "\(new.name) \(place), but \(failure.message)",
      hint: "if it has not joined: coffer sync remove \(new.shortIdentifier)")
  }

  private func welcome(_ record: DeviceRecord, _ session: SpaceSession) throws -> Welcome {
    _ = try session.finish()
    guard session.state.replica.membership[record.id] != nil, let welcome = Welcome(session.state.replica) else {
      throw Self.notAllowed(record)
    }
    return welcome
  }

  private static func notAllowed(_ record: DeviceRecord) -> SyncError {
    SyncError(.notAllowed, "\(record.person), \(record.name)")
  }

  private func mailbox(_ place: Identifier, _ address: EngineAddress) throws -> any Engine {
    do {
      return try OpenSpace.connect(address, place, .mailbox)
    } catch {
      guard error.isMissing else { throw error }
      throw Failure(.notFound, "\(code): no device waits under this code", hint: "there: coffer sync join \(address)")
    }
  }

  private func note(namesakes: [DeviceRecord]) {
    guard !namesakes.isEmpty else { return }
    let ids = namesakes.map(\.shortIdentifier).sorted().joined(separator: ", ")
    Descriptor.error.note("note: the space has a device of this name already (\(ids)); to remove one: coffer sync remove ID\n")
  }

  private func ask(_ record: DeviceRecord, _ signals: WaitingSignals) throws -> UInt64 {
    Descriptor.error.note(
      "\(record.name.escapingControls()) of \(record.person.escapingControls()), as \(role). The number that it shows: ")
    // A line that is not 8 digits does not count as an attempt.
    var isTyped = false
    for left in (0...Self.repeats).reversed() {
      guard let line = try Descriptor.input.line(check: signals.check) else { break }
      if let number = Self.number(line) { return number }
      isTyped = isTyped || !line.isEmpty
      if left > 0 { Descriptor.error.note("It has 8 digits: ") }
    }
    throw Failure(.cancelled, "no number \(isTyped ? "of 8 digits " : "")was typed: nothing has been changed")
  }

  /// A pipe may bring any number of lines.
  private static let repeats = 3

  /// - Returns: nil for another form than 8 digits, with spaces and hyphens between them.
  private static func number(_ line: [UInt8]) -> UInt64? {
    let digits = line.filter { ![0x09, 0x0D, 0x20, 0x2D].contains($0) }
    guard digits.count == 8, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return UInt64(String(decoding: digits, as: UTF8.self))
  }
}
