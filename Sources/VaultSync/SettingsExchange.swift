import CofferPreferences
import CofferPropertyLists
package import CofferSync
package import SyncedSettings
import VaultCore

extension SpaceSession {
  /// Which settings a pass looks at.
  package struct SettingsScope {
    /// Whether the values of the stores are compared with those that the log has of them.
    let isSent: Bool
    /// Whether the log's values go to the stores also if this pass has read none.
    let isReceived: Bool

    /// - Parameters:
    ///   - isSent: Whether the values of the stores are compared with those that the log has of them.
    ///   - isReceived: Whether the log's values go to the stores also if this pass has read none.
    package init(isSent: Bool = true, isReceived: Bool = true) { (self.isSent, self.isReceived) = (isSent, isReceived) }
  }

  /// As `synchronise(with:changes:)`, with the settings of this machine.
  /// - Parameters:
  ///   - engine: The log.
  ///   - changes: The items that may have changed in the vault.
  ///   - stores: The stores that the person has allowed.
  ///   - scope: The settings that may have changed.
  /// - Throws: As `synchronise(with:changes:)`. The settings that were to be sent are pending changes then.
  package func synchronise(
    with engine: any Engine, changes: VaultChanges = .all, settings stores: [SyncedProjection], _ scope: SettingsScope = .init()
  ) throws -> (SyncReport, SettingsExchange.Report) {
    var exchange = SettingsExchange(self, stores) { try engine.get($0) }
    if scope.isSent { try exchange.send() }
    var report = try synchronise(with: engine, changes: changes)
    guard !stores.isEmpty, scope.isReceived || report.hasNewSettings || exchange.hasUnmet else {
      return (report, exchange.report)
    }
    if try exchange.receive() {
      report.add(try synchronise(with: engine, changes: .none))
      _ = try exchange.receive()
    }
    return (report, exchange.report)
  }
}

/// The stores of settings of this machine, and the log of a personal space.
package struct SettingsExchange {
  /// The changes of one pass, and stores and settings that were left out.
  package struct Report {
    package var sent = 0
    package var received = 0
    /// Values that a full store has refused, or that gave way at the first meeting.
    package var refused = 0
    package var failed: [(name: String, error: any Error)] = []

    package init() {}
  }

  private let session: SpaceSession
  private let stores: [SyncedProjection]
  private let objects: ObjectSource
  private(set) var report = Report()
  /// Whether a store has yet to meet the log.
  private(set) var hasUnmet = false
  /// Values of the store that is looked at, which this machine has and the engine has lost.
  private var lost: [(key: String, value: PropertyListValue?, dot: [UInt8]?)] = []

  /// - Parameters:
  ///   - session: A personal space.
  ///   - stores: The stores that the person has allowed.
  ///   - objects: The large values of the engine.
  init(_ session: SpaceSession, _ stores: [SyncedProjection], _ objects: @escaping ObjectSource) {
    (self.session, self.stores, self.objects) = (session, stores, objects)
  }

  private func name(of store: SyncedProjection) -> String { store.store.values.name.name }

  /// A value that is missing after damage to the journal was not removed: the store meets the log again.
  private func hasMet(_ store: SyncedProjection) throws(PreferenceError) -> Bool {
    guard store.delivered != nil, session.state.settings.met.contains(name(of: store)) else { return false }
    return try !store.isDamaged()
  }

  /// One store that cannot be read holds up no other.
  private mutating func forEachStore(_ body: (inout SettingsExchange, SyncedProjection) throws -> Void) throws {
    for store in stores {
      do {
        try body(&self, store)
      } catch let error as PreferenceError where !report.failed.contains(where: { $0.name == name(of: store) }) {
        // Told once, though it is looked at before and after the log is read.
        report.failed.append((name(of: store), store.store.named(error)))
      } catch is PreferenceError {
      }
    }
  }

  // MARK: To the log

  /// Before the log is read: changes of this machine become operations. A store that has not met the log waits until it was read.
  /// - Throws: errors of the files of the space.
  mutating func send() throws {
    try forEachStore { exchange, store in
      guard try exchange.hasMet(store) else {
        exchange.hasUnmet = true
        return
      }
      try exchange.send(try store.pending().map { ($0.key, $0.value, $0.dot) }, of: store)
    }
  }

  private mutating func send(
    _ pending: [(key: String, value: PropertyListValue?, dot: [UInt8]?)], of store: SyncedProjection
  ) throws {
    var sent: [(key: String, hash: [UInt8], change: LocalSetting)] = []
    for item in pending {
      let value = item.value?.journalBytes
      guard let setting = try? SettingName(store: name(of: store), key: item.key),
        value?.count ?? 0 <= SettingContent.maximumValueByteCount
      else {
        report.failed.append(("\(name(of: store)) \(item.key)", VoidCause.length))
        continue
      }
      let change = LocalSetting(setting, value: value, seen: item.dot.flatMap { Identifier($0) })
      sent.append((item.key, store.hash(of: item.value), change))
    }
    guard !sent.isEmpty else { return }
    // Not the time of this pass, which may come long after: the value that was set later is to be the value.
    let changed = try store.store.values.lastChange().map { $0 / 1_000_000 }
    for (item, dot) in zip(sent, try session.write(sent.map(\.change), at: changed, objects)) {
      // The number of an entry is not known before it is appended, and nothing needs it.
      try store.sent(item.key, hash: item.hash, dot: dot?.bytes ?? [], entry: 0)
      report.sent += 1
    }
  }

  // MARK: From the log

  /// After the log was read: its values become those of the stores.
  /// - Returns: Whether there is something to append now.
  /// - Throws: errors of the files of the space.
  mutating func receive() throws -> Bool {
    let refused = session.refusedSettings(objects)
    try forEachStore { exchange, store in
      let name = exchange.name(of: store)
      try exchange.giveBack(refused.filter { $0.name.store.utf8.elementsEqual(name.utf8) }, to: store)
      if try exchange.hasMet(store) {
        try exchange.deliver(exchange.changes(for: store, removing: true), .serverChange, to: store)
        try exchange.send(exchange.lost, of: store)
      } else {
        try exchange.meet(store)
      }
    }
    try session.forgetRefusedSettings()
    return session.state.replica.hasMore
  }

  private mutating func deliver(_ changes: [SyncedChange], _ reason: SyncedReason, to store: SyncedProjection) throws {
    let before = store.store.values.values()
    try store.receive(changes, reason, through: session.state.replica.count - 1)
    let after = store.store.values.values()
    report.received += changes.filter { before[$0.key] != after[$0.key] }.count
  }

  /// The log's values. One that is not readable now leaves that of the store as it is.
  /// - Parameter removing: Whether keys that the log does not have go from the store.
  private mutating func changes(for store: SyncedProjection, removing: Bool) throws -> [SyncedChange] {
    var changes: [SyncedChange] = []
    var keys: Set<[UInt8]> = []
    lost = []
    for setting in session.settings(of: name(of: store)) {
      keys.insert(Array(setting.name.key.utf8))
      let value: PropertyListValue
      do {
        guard let read = PropertyListValue(journalBytes: try session.value(of: setting, objects)) else { throw VoidCause.form }
        value = read
      } catch {
        let dot = setting.write.dot.bytes
        if case Halt.objectMissing? = error as? Halt, let own = try store.value(setting.name.key, after: dot) {
          lost.append((setting.name.key, own, dot))
          continue
        }
        report.failed.append(("\(setting.name.store) \(setting.name.key)", error))
        continue
      }
      changes.append(SyncedChange(setting.name.key, value, dot: setting.write.dot.bytes, entry: 0))
    }
    guard removing else { return changes }
    let gone = try store.store.values.completeValues().keys.filter { !keys.contains(Array($0.utf8)) }
    return changes + gone.map { SyncedChange($0, nil, dot: [], entry: 0) }
  }

  /// Values that the quota of the log has refused: the store shows what the log has.
  private mutating func giveBack(_ refused: [SettingContent], to store: SyncedProjection) throws {
    guard !refused.isEmpty else { return }
    let known = try changes(for: store, removing: false)
    let changes = refused.compactMap { content -> SyncedChange? in
      guard let value = PropertyListValue(journalBytes: content.value) else { return nil }
      let shown = known.first { $0.key.utf8.elementsEqual(content.name.key.utf8) }
      return SyncedChange(content.name.key, shown?.value, dot: shown?.dot ?? [], entry: 0, refusing: value)
    }
    report.refused += changes.count
    try store.receive(changes, .quotaViolation)
  }

  /// The first meeting of a store with this log: the log's value wins, the other one is kept as refused, and keys that only this machine has
  /// are sent. After another space it is the same, and nothing goes.
  private mutating func meet(_ store: SyncedProjection) throws {
    let reason: SyncedReason =
      // After damage to a journal a store meets its own log again.
      if session.state.settings.met.contains(name(of: store)), store.delivered != nil { .serverChange } else {
        store.delivered == nil ? .initialSync : .accountChange
      }
    let pending = try store.pending()
    // Removals of keys of another log say nothing about this one.
    for item in pending where item.value == nil { try store.sent(item.key, hash: [], dot: [], entry: 0) }
    let known = try changes(for: store, removing: false)
    let changes = known.map { change -> SyncedChange in
      guard let own = pending.first(where: { $0.key.utf8.elementsEqual(change.key.utf8) })?.value, own != change.value else {
        return change
      }
      report.refused += 1
      return SyncedChange(change.key, change.value, dot: change.dot, entry: change.entry, refusing: own)
    }
    try deliver(changes, reason, to: store)
    let shared = Set(session.settings(of: name(of: store)).map { Array($0.name.key.utf8) })
    let own = try store.store.values.completeValues().unsorted.filter { !shared.contains(Array($0.key.utf8)) }
    try send(own.filter { SyncedStore.isShared($0.key) }.map { ($0.key, $0.value, nil) }, of: store)
    try store.noteDamage()
    try session.noteMeeting(of: name(of: store))
  }
}
