import ArgumentParser
import CofferConsole

struct BusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bus", abstract: "Keep the secrets of the desktop's programs in the vault, through the Secret Service.",
    discussion: "libsecret, secret-tool and keyring ask org.freedesktop.secrets on the message bus of the session.",
    subcommands: [BusEnable.self, BusDisable.self, BusStatus.self, BusConfirm.self, BusTrust.self])

  func run() throws {
    throw Failure.usage("bus: a verb is missing", hint: "coffer bus --help")
  }
}

struct BusEnable: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable", abstract: "Have the bus start coffer-secrets for the first program that asks.",
    discussion: "Writes a file for this user, which precedes that of gnome-keyring.")

  func run() throws {
    let program = try SessionBus.program()
    let file = try ActivationFile()
    guard try file.state(for: program) != .foreign else { throw file.isForeign }
    try about(file.path) { try file.write(for: program) }
    try SessionBus.noteReload()
    if let owner = try? SessionBus.owner(), owner.program != program, !owner.isHiddenOwn { Descriptor.error.note(owner.advice) }
    if let advice = PortalFile.advice { Descriptor.error.note(advice) }
  }
}

struct BusDisable: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable", abstract: "Undo coffer bus enable.",
    discussion: "The items stay in the vault. A coffer-secrets that runs goes on until it is ended.")

  func run() throws {
    let file = try ActivationFile()
    switch try file.state(for: SessionBus.program()) {
    case .absent: return Descriptor.error.note("note: it is not enabled\n")
    case .foreign: throw file.isForeign
    case .own, .otherInstallation: try about(file.path) { _ = try file.remove() }
    }
    try SessionBus.noteReload()
    if let owner = try? SessionBus.owner(), owner.isOwn {
      Descriptor.error.note("note: coffer-secrets runs until it is ended: kill \(owner.process)\n")
    }
  }
}

struct BusStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show whether it is enabled, and which program serves now.",
    discussion: "The second line is none if no program serves, and no bus if there is none.")

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    let file = try ActivationFile()
    let state = try file.state(for: SessionBus.program())
    var (owner, hasBus): (SessionBus.Owner?, Bool) = (nil, true)
    do {
      owner = try SessionBus.owner()
    } catch let failure as Failure where failure.status == .inputOutput {
      hasBus = false
    }
    if json {
      let program = owner.map { JSON.object([("process", .natural($0.process)), ("program", .text($0.program))]) }
      let members: [(String, JSON)] = [
        ("activation", .text(state.rawValue)), ("file", .text(file.path)), ("hasBus", .boolean(hasBus)),
        ("owner", program ?? .null),
      ]
      return try Descriptor.output.write(JSON.object(members).description + "\n")
    }
    let served = owner.map { "\($0.program), process \($0.process)" } ?? (hasBus ? "none" : "no bus")
    let rows = [["activation", state.rawValue], ["served by", served]]
    try Descriptor.output.write(Table(heading: ["SECRET SERVICE", ""], rows: rows).text(style: .current()))
  }
}
