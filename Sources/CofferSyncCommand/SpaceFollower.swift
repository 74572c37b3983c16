import Coffer
import CofferConsole
import CofferFiles
import CofferSync
import SyncEngines
import VaultCore
import VaultSync

/// One space of a program that stays: what is open of it, and when the next pass is due.
final class SpaceFollower {
  /// In milliseconds: changes of the vault within this time after a pass are one entry.
  private static let collection = 200
  /// In milliseconds: the least time between a failure and a try because of a change of the vault.
  private static let rest = 5000

  let space: Identifier
  private var session: SpaceSession?
  private var engine: ReachedEngine?
  private var sign: LogSign?
  private let settings: SettingsFollower
  private var changes = VaultChanges.all
  /// When a pass is due.
  private var due: Deadline? = Deadline(milliseconds: 0)
  /// When the log is looked at, without a pass.
  private var look: Deadline?
  /// Until when changes are collected.
  private var collects = Deadline(milliseconds: 0)
  private var failures = 0
  /// Until when no change of the vault begins another try.
  private var rests = Deadline(milliseconds: 0)
  private var told = ToldMessage()

  /// - Parameter tell: Called after a change of the settings, on any thread.
  init(_ space: Identifier, tell: @escaping @Sendable () -> Void) {
    self.space = space
    settings = SettingsFollower(tell: tell)
  }

  /// Readable after a change of the log, which a pass that is due reads anyway.
  var descriptor: Int32? { failures == 0 && due == nil ? sign?.descriptor : nil }
  /// When there is something to do, if nothing happens before.
  var next: [Deadline] { due.map { [$0] } ?? [look, settings.due].compactMap { $0 } }

  /// - Parameter new: The changes of the vault. Those of settings are taken as well.
  func hear(_ new: VaultChanges) {
    settings.hear()
    guard !new.isEmpty else { return }
    changes.add(new)
    if due == nil { due = collects }
    // A person works on this machine: the engine may be there again long before the next try.
    if failures > 0, rests.left < due?.left ?? 0 { due = rests }
  }

  func logHasChanged() { look = Deadline(milliseconds: 0) }

  /// The vault is locked: its keys go, and a pass is due when it is open again.
  func forget() {
    (session, changes, due) = (nil, .all, Deadline(milliseconds: 0))
    settings.close()
    disconnect()
  }

  private func disconnect() { (engine, sign, look) = (nil, nil, nil) }

  /// Does what is due.
  /// - Throws: Errors of a vault that is locked or away.
  func turn(_ keychain: Keychain) throws {
    do {
      if due == nil, let settings = settings.due, settings.hasPassed { due = settings }
      // Also for items that the last pass could not compare, or that were changed meanwhile.
      if due == nil, let look, look.hasPassed, try !changes.isEmpty || mayHaveMore() { due = look }
      if let due, due.hasPassed { try pass(keychain) }
    } catch {
      guard !error.isOfVault else { throw error }
      fail(error)
    }
  }

  /// Whether there may be entries of others, or another process has written the state of this device, or has put another directory in the
  /// place of a store, or a day has passed.
  /// - Throws: `EngineFailure`; errors of the files.
  private func mayHaveMore() throws -> Bool {
    guard let session, try session.isCurrent() && settings.isCurrent(session) && !session.isInspectionDue else { return true }
    let engine = try reach(session)
    engine.clearSign()
    guard try engine.mayHave(session.state.replica.count) else {
      try wait(session)
      return false
    }
    return true
  }

  private func pass(_ keychain: Keychain) throws {
    (due, look) = (nil, nil)
    let taken = changes
    changes = .none
    defer { collects = Deadline(milliseconds: Self.collection) }
    do {
      let session = try session ?? OpenSpace.session(space, in: keychain)
      self.session = session
      try session.resume()
      defer { session.rest() }
      let (report, notes) = try synchronise(session, taken)
      tell(SyncNow.notes(on: report) + notes)
      try wait(session)
      failures = 0
      changes.add(report.open)
      if session.state.replica.isStuck { retry() }
    } catch {
      changes.add(taken)
      throw error
    }
  }

  /// An engine that is away is tried after the changes of the vault were taken: they are pending then, with the time of now.
  private func synchronise(_ session: SpaceSession, _ changes: VaultChanges) throws -> (SyncReport, notes: [String]) {
    let engine: any Engine
    do {
      engine = try reach(session)
    } catch {
      engine = MissingEngine(error)
    }
    return try settings.synchronise(session, with: engine, changes: changes)
  }

  private func reach(_ session: SpaceSession) throws(EngineFailure) -> ReachedEngine {
    // A directory is opened anew: another may be at its path by now, and a file server may have come back.
    if let engine, !engine.isDirectory { return engine }
    let new: ReachedEngine
    do {
      new = try session.connect()
    } catch let error as EngineFailure {
      throw error
    } catch {
      throw EngineFailure(error, .directory(session.state.engine))
    }
    engine = new
    // Before the log is read, so that no entry comes unnoticed.
    if new.isDirectory { sign = try new.beginWaiting(for: session.state.replica.count) }
    return new
  }

  private func wait(_ session: SpaceSession) throws(EngineFailure) {
    guard let engine else { return }
    let sign = try engine.beginWaiting(for: session.state.replica.count)
    self.sign = sign
    look = Deadline(milliseconds: Int32.random(in: sign.milliseconds * 4 / 5...sign.milliseconds * 6 / 5))
  }

  // MARK: Failures

  private func fail(_ error: any Error) {
    tell([Failure(error).text])
    if !(error is EngineFailure) {
      (session, changes) = (nil, .all)
      settings.close()
    }
    disconnect()
    retry()
  }

  private func retry() {
    due = Deadline(milliseconds: Int(Backoff.afterOutage(failures, random: .random(in: 0..<1))))
    rests = Deadline(milliseconds: Self.rest)
    failures += 1
  }

  private func tell(_ notes: [String]) { told.tell(notes.map { $0.hasSuffix("\n") ? $0 : "note: \($0)\n" }.joined()) }
}

extension Replica {
  /// Whether the engine has taken entries and shows none of them.
  fileprivate var isStuck: Bool {
    guard hasMore, let role = membership[id]?.role, role <= .member else { return false }
    return true
  }
}
