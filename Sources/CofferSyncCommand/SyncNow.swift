import ArgumentParser
import CofferConsole
import CofferSync
import VaultCore
import VaultSync

struct SyncNow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "now", abstract: "Send the changes of this machine, and take those of the others.",
    discussion: "Prints nothing if there is nothing to do. A timer or cron can run it: it asks nothing.")

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let sessions = try space.sessions()
    for open in sessions {
      let session = try open()
      try Self.say(session.finish(), about: sessions.count > 1 ? session.keys.space : nil)
    }
  }

  /// - Parameter space: nil if there is one alone.
  static func say(_ report: SyncReport, about space: Identifier?) throws {
    let parts: [(Int, String)] = [
      (report.changed, "changed here"), (report.deleted, "deleted here"), (report.written, "changed by others"),
      (report.removed, "deleted by others"),
    ]
    let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    if !words.isEmpty {
      try Descriptor.output.write((space.map { "\($0): " } ?? "") + words.joined(separator: ", ") + "\n")
    }
    if report.wasPutBack {
      Descriptor.error.note("note: this vault was restored from a backup; items that were deleted since then are there again\n")
    }
    if report.held > 0 {
      Descriptor.error.note(
        "note: \(counted(report.held, "deletion")) at once wait until you confirm them: coffer sync accept-deletions\n")
    }
    for (name, error) in report.refused {
      Descriptor.error.note(
        "note: \(name.escapingControls()): this vault does not take it: \(Failure(error).message.escapingControls())\n")
    }
    if let damage = report.damage {
      Descriptor.error.note(
        "note: a shared group has a damaged record, so no deletion in it is sent: \(Failure(damage).message.escapingControls())\n"
      )
    }
  }
}

struct SyncAcceptDeletions: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-deletions", abstract: "Send the deletions that wait, or take them back.",
    discussion: "More than 50 deletions at once, and more than a fifth of a group, wait for a person.")

  @Flag(help: "Take them back: the items return to this vault.")
  var discard = false

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.session()
    guard session.state.replica.pending.contains(where: \.isHeld) else {
      return Descriptor.error.note("note: no deletion waits\n")
    }
    try session.decideDeletions(areSent: !discard)
    try SyncNow.say(session.finish(), about: nil)
  }
}

struct SyncAcceptHistory: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-history", abstract: "Go on with the log of the engine, after it was found to be another one.",
    discussion: """
      Compare first with another device: coffer sync check. Changes that the log of the engine lacks are sent again. An owner also \
      repeats the removals that it lacks.
      """)

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.session()
    guard session.state.replica.halt != nil else {
      return Descriptor.error.note("note: this device has not stopped: coffer sync now\n")
    }
    let engine = try session.connect()
    try session.acceptHistory(of: engine)
    try SyncNow.say(session.synchronise(with: engine), about: nil)
  }
}
