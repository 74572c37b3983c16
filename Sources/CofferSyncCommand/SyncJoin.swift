import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferSync
import SyncEngines
import VaultCore
import VaultSync

struct SyncJoin: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Become a device of a space: shows a code for coffer sync add on a member.",
    discussion: """
      Waits up to 10 minutes. Then it shows a number, which you type on the member: so no program between the two can take the \
      place of either. If the member has taken the number, press Return here. Groups that this vault does not have are shared at \
      once; for others: coffer sync share GROUP.
      """)

  @Flag(help: "With the recovery key of the space, without a member: asks for it, at the terminal or from standard input.")
  var recoveryKey = false

  @Option(help: ArgumentHelp("The space of the recovery key, as it was printed with it.", valueName: "id"))
  var space: String?

  @OptionGroup var device: NewDeviceOptions

  func run() throws {
    guard recoveryKey == (space != nil) else {
      throw Failure.usage("--recovery-key and --space belong together", hint: "the space is printed with its recovery key")
    }
    var present: Set<AccessGroup> = []
    let session = try device.make { identity, address in
      if let space { return try RecoveringDevice(space, address).admit(identity) }
      let welcome = try Self.welcome(identity, address)
      return try Replica(joining: identity, welcome, OpenSpace.connect(address, welcome.space), ValueKey())
    } sharing: { replica, keychain in
      let offered = Set(replica.offeredGroups().keys).subtracting(device.personal ? [.standard] : [])
      present = try offered.filter { try keychain.contains($0) && !keychain.items(.init(group: $0)).isEmpty }
      return offered.subtracting(present)
    }
    try SyncNow.say(session.finish(), about: nil)
    for group in present.sorted() {
      let name = group.name.escapingControls()
      Descriptor.error.note(
        "note: the space has the group \(name), and so has this vault. To join them: coffer sync share '\(name)'\n")
    }
  }

  private static func welcome(_ identity: DeviceIdentity, _ address: EngineAddress) throws -> Welcome {
    // A signal ends the exchange or the question, and not the process: the mailbox is removed.
    let signals = WaitingSignals()
    let welcome = try exchange(identity, address, signals)
    try confirm(signals)
    return welcome
  }

  private static func exchange(
    _ identity: DeviceIdentity, _ address: EngineAddress, _ signals: WaitingSignals
  ) throws -> Welcome {
    let code = Exchange.code()
    guard let place = Exchange.mailbox(code) else { throw SyncError(.exchangeRefused) }
    let mailbox = try OpenSpace.connect(address, place, .temporary)
    let exchange = Exchange(mailbox, until: Deadline(milliseconds: patience), check: signals.check)
    return try exchange.join(identity) {
      Descriptor.error.note("On a device of the space: coffer sync add \(code)\n")
    } accept: {
      try DeviceKeys.checkIsNew($0, in: OpenSpace.keychain())
    } show: { number in
      let digits = String(number)
      let padded = String(repeating: "0", count: 8 - digits.count) + digits
      Descriptor.error.note("Type this number there: \(padded)\n")
    }
  }

  /// A program between the two welcomes this device to a space of its own, whatever number was typed on the member. So a line counts
  /// only if it was typed after the question.
  private static func confirm(_ signals: WaitingSignals) throws {
    let input = Descriptor.input
    var line: [UInt8]?
    repeat {
      input.discardTypedAhead()
      Descriptor.error.note("If it was taken there without an error, press Return; else Ctrl-C: ")
      do {
        line = try input.line(check: signals.check)
      } catch let failure as Failure where failure.status == .cancelled {
        line = nil
      }
    } while input.isTerminal && line?.isEmpty == false
    guard line?.isEmpty == true else {
      throw Failure(.cancelled, "not confirmed: this vault has not joined", hint: "on the member: coffer sync members")
    }
  }
}
