package import CofferSync
import Glibc
import VaultCore

/// The changes of one `synchronise`.
package struct SyncReport {
  /// Items of this vault that were changed or deleted, and became operations.
  package var changed = 0
  package var deleted = 0
  /// Deletions that wait for a person.
  package var held = 0
  /// Operations that no read has shown yet.
  package var pending = 0
  /// Items of this vault that were written or removed.
  package var written = 0
  package var removed = 0
  /// Items that the vault does not take, with the reason.
  package var refused: [(name: String, error: any Error)] = []
  /// Items whose changes are not known, because the vault does not give them to this program, or the engine a value to compare.
  package var unread: [(name: String, error: any Error)] = []
  /// A record that cannot be read.
  package var damage: (any Error)?
  /// The vault was restored from a backup.
  package var wasPutBack = false
  /// The plan of a pass that was interrupted was damaged: changes of this vault are kept as after a restore.
  package var wasPlanLost = false
  /// The entries that the engine had lost, and has again.
  package var restored = 0
  /// The outcome of a look at all that the engine has.
  package var inspection = Replica.Inspection()
  /// Whether the engine lacks parts of the last checkpoint, which an owner makes again.
  package var lacksParts = false
  /// The items that a further pass has to look at: all, if some were changed in the vault meanwhile; those to be compared with a value
  /// that the engine does not give now.
  package var open = VaultChanges.none
  /// Whether the log has brought settings, or has refused some.
  var hasNewSettings = false

  /// Adds what a pass right after this one has done.
  package mutating func add(_ next: SyncReport) {
    (written, removed, restored) = (written + next.written, removed + next.removed, restored + next.restored)
    refused += next.refused
    open.add(next.open)
    pending = next.pending
  }
}

extension SpaceSession {
  private static let day: Int64 = 86_400_000
  /// How long a device may be silent, in milliseconds: others see by its entries that they have all of the log.
  private static let longestSilence = 7 * day

  /// Takes the changes of the vault, folds the log, appends what is pending, and writes the result into the vault.
  ///
  /// If this session has made a pass, and `changes` names the items that may have changed in the vault since then, the time of a pass
  /// does not grow with the number of items, but for writing the files.
  /// - Parameters:
  ///   - engine: The log.
  ///   - changes: The items that may have changed in the vault.
  ///   - inspects: Whether the pass looks at all that the engine has. Once a day each device does.
  /// - Throws: as `Keychain.items`; errors of the files; `Halt`; errors of the engine. The vault has the entries that were folded before the error.
  package func synchronise(with engine: any Engine, changes: VaultChanges = .all, inspects: Bool = false) throws -> SyncReport {
    let objects: ObjectSource = { try engine.get($0) }
    let before = (replica: state.replica.mark, rows: state.rows, times: [state.lastAppended, state.lastInspection])
    let some = try collect(changes, objects)
    var found = try some ?? collect(objects)
    let known = seen
    // After an error all are listed.
    seen = nil
    var report = SyncReport(
      changed: found.changed, deleted: found.deleted, held: found.held, damage: found.items.damage,
      wasPutBack: found.isPutBack && !found.isPlanLost, wasPlanLost: found.isPlanLost)
    report.unread = found.unread.map { (found.items.entries[$0]?.item.shownName ?? "", $1) }.sorted { $0.name < $1.name }
    let now = clock()
    // Also if the clock was ahead at the last entry.
    if state.replica.isMember, now.distance(to: state.lastAppended).magnitude > Self.longestSilence {
      state.replica.wantsPresence = true
    }
    try saveChanges(of: state.replica)
    var replica = state.replica
    let restoredBefore = replica.restoredCount
    var failure: (any Error)?
    do {
      repeat {
        let count = replica.count
        try replica.synchronise(with: engine, pause: pause) { try saveChanges(of: $0) }
        if replica.count == count { break }
      } while replica.hasMore
      report.inspection = try inspect(&replica, engine, at: now, isAsked: inspects)
      if replica.isCheckpointDue(without: report.inspection.missingObjects) {
        _ = try replica.appendCheckpoint(to: engine) { try saveChanges(of: $0) }
      }
      report.lacksParts = replica.needsOneOf(report.inspection.missingObjects)
    } catch {
      failure = error
    }
    state.replica = replica
    state.notes.note(failure.map(describe), replica, at: now)
    if let last = replica.lastEntries[replica.id], last.number >= before.replica.count { state.lastAppended = now }
    let entities = keysToApply(isComplete: some == nil)
    if some != nil { try look(for: entities, known ?? [:], &found) }
    let applied = try apply(found, entities, objects)
    report.hasNewSettings = state.replica.hasNewSettings
    state.replica.settle(except: Set(applied.open.union(found.unread.keys).map { EntityKey(.item, $0) }))
    (report.written, report.removed, report.refused) = (applied.written, applied.removed, applied.refused)
    report.pending = replica.pending.count
    report.restored = replica.restoredCount - restoredBefore
    report.open = found.open
    if report.restored > 0 || !report.inspection.missingObjects.isEmpty, compareObjects() { report.open = .all }
    let hasNewRows = state.rows != before.rows
    let isStamped = hasNewRows || found.isPutBack || state.stamp.count == 0
    if isStamped {
      var stamp = state.stamp
      stamp.count += 1
      // First the vault: one with a lower number is an older one.
      try PlaceItem.write(stamp, of: keys.space, in: keychain)
      state.stamp = stamp
    }
    let hasChanged =
      isStamped || state.replica.mark != before.replica || [state.lastAppended, state.lastInspection] != before.times
    if hasChanged || !state.notes.agrees(with: saved.notes) { try save() }
    try files.removePlan()
    seen = known
    if case Halt.removed? = failure, replica.isErased {
      let (removed, kept) = try erase()
      let rest = kept == 0 ? "" : "; kept, because no other device has their values: \(kept)"
      throw SyncError(.erased, (removed == 1 ? "1 item" : "\(removed) items") + rest)
    }
    if let failure { throw failure }
    return report
  }
}

extension SpaceSession {
  /// Whether the next pass looks at all that the engine has, because the last look is a day old.
  package var isInspectionDue: Bool { isInspectionDue(at: clock()) }

  private func isInspectionDue(at now: Int64) -> Bool {
    state.replica.isMember && state.replica.halt == nil && now.distance(to: state.lastInspection).magnitude >= Self.day
  }

  /// - Parameters:
  ///   - replica: Has read all of the log.
  ///   - isAsked: Whether it looks although it has on this day.
  private func inspect(_ replica: inout Replica, _ engine: any Engine, at now: Int64, isAsked: Bool) throws
    -> Replica.Inspection
  {
    let isDue = isInspectionDue(at: now)
    guard replica.isMember, isDue || isAsked else { return .init() }
    // The clock may have been set back, and forward again: then no day has passed.
    let isCounted = state.lastCounted == 0 || now >= state.lastCounted.addingReportingOverflow(Self.day).partialValue
    let inspection = try replica.inspect(engine, &state.garbage, isCounted: isCounted)
    if isCounted { state.lastCounted = now }
    if isDue { state.lastInspection = now }
    return inspection
  }

  /// The engine may have lost objects with the entries that were put back. The next pass compares the values in objects, and writes
  /// anew those that the engine does not have.
  /// - Returns: Whether there are such values.
  func compareObjects() -> Bool {
    guard let role = state.replica.membership[state.replica.id]?.role, role <= .member else { return false }
    let tags = state.rows.filter { tag, row in
      let entity = shown(EntityKey(.item, tag))
      // This vault may have an earlier value, because it never got the later one.
      guard row.content == entity?[.content].first?.dot, row.secret == entity?[.secret].first?.dot else { return false }
      return entity?.shown(.content)?.object != nil || entity?.shown(.secret)?.object != nil
    }.keys
    for tag in tags { state.rows[tag]?.version = nil }
    return !tags.isEmpty
  }
}

/// The time in milliseconds since 1970.
func milliseconds() -> Int64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
