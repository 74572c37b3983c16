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

  /// All spaces, also if the engine of one is not there.
  /// - Throws: the first error.
  func run() throws {
    let sessions = try space.sessions()
    var failure: (any Error)?
    for open in sessions {
      do { try Self.run(open(), isOneOfSeveral: sessions.count > 1) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  private static func run(_ session: SpaceSession, isOneOfSeveral: Bool) throws {
    let (report, settings) = try session.finishWithSettings()
    try say(report, about: isOneOfSeveral ? session.keys.space : nil)
    try SettingStores.say(settings)
    let replica = session.state.replica
    if !replica.awaitedRemovals.isEmpty, let waiting = replica.waiting {
      Descriptor.error.note(
        "note: not sent: \(counted(replica.pending.count, "change")) of this vault: \(waiting.escapingControls())\n")
    }
    guard replica.membership[replica.id]?.role == .reader, !replica.pending.isEmpty else { return }
    Descriptor.error.note("note: not sent: \(counted(replica.pending.count, "change")) of this vault: this device is a reader\n")
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
    for note in notes(on: report) { Descriptor.error.note("note: \(note)\n") }
  }

  static func notes(on report: SyncReport) -> [String] {
    var notes: [String] = []
    if report.wasPutBack {
      notes.append("this vault was restored from a backup, or repaired; items that were deleted since then are there again")
    }
    if report.wasPlanLost {
      notes.append("a file of this device was damaged; items that were deleted since the last pass may be there again")
    }
    if report.restored > 0 {
      notes.append("the engine had lost entries; appended again: \(report.restored)")
    }
    let inspection = report.inspection
    if inspection.lacksEntries {
      notes.append("the engine has lost entries that this device does not keep: no device can join unless another one has them")
    }
    if let error = inspection.unrestored {
      notes.append("entries that the engine may have lost were not put back: \(Failure(error).message.escapingControls())")
    }
    if report.lacksParts {
      notes.append("the engine has lost parts of a checkpoint: no device can join until an owner has run coffer sync now")
    }
    if let error = inspection.undeleted {
      notes.append("the engine keeps entries that no device needs: \(Failure(error).message.escapingControls())")
    }
    if report.held > 0 {
      notes.append("\(counted(report.held, "deletion")) at once wait until you confirm them: coffer sync accept-deletions")
    }
    for (name, error) in report.unread {
      notes.append("\(name.escapingControls()): its changes go neither way: \(Failure(error).message.escapingControls())")
    }
    for (name, error) in report.refused {
      notes.append("\(name.escapingControls()): this vault does not take it: \(Failure(error).message.escapingControls())")
    }
    if let damage = report.damage {
      notes.append("the vault has a damaged record, which is left as it is: \(Failure(damage).message.escapingControls())")
    }
    return notes
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

  @Flag(help: "Go on with the log as it is, also after a damaged entry.")
  var force = false

  @OptionGroup var space: SpaceOptions

  func run() throws {
    let session = try space.session()
    let engine = try session.connect()
    if !force, let entry = try ChangedEntry(of: session, in: engine), entry.isDamaged {
      throw Failure(.denied, entry.text, hint: "\(ChangedEntry.remedy); to go on with the log as it is: --force")
    }
    if session.state.replica.halt == nil {
      do {
        let report = try session.synchronise(with: engine)
        Descriptor.error.note("note: this device has not stopped\n")
        return try SyncNow.say(report, about: nil)
      } catch Halt.entriesMissing {
        // No device has them any more, as the person says.
      }
    }
    try session.acceptHistory(of: engine)
    try SyncNow.say(session.synchronise(with: engine), about: nil)
  }
}
