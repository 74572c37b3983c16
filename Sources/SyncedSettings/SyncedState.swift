import CofferPreferences
import CofferPropertyLists

/// The content of the domain `ID.sync` at one moment.
struct SyncedState {
  private let values: PropertyListDictionary
  private let received: PropertyListDictionary

  init(_ values: PropertyListDictionary) {
    self.values = values
    received = if case .dictionary(let hashes)? = values[StateKey.receiving] { hashes } else { PropertyListDictionary() }
  }

  var recordedKeys: [PropertyListDictionary.Key] {
    values.keys.compactMap { StateKey.record.name(in: $0).map { .init($0) } }
  }

  func record(_ key: String) -> SyncedRecord? { SyncedRecord(values[StateKey.record.key(key)]) }

  /// Whether the log has the value, or had it when a crash interrupted its delivery.
  /// - Parameter hash: The hash of the value; empty if there is none.
  func knows(_ hash: [UInt8], _ key: String) -> Bool { hash == record(key)?.hash ?? [] || wasReceiving(hash, key) }

  /// Whether a delivery of the value was interrupted.
  func wasReceiving(_ hash: [UInt8], _ key: String) -> Bool { received[key].map { $0.bytes == hash } ?? false }

  /// Whether nothing of the change is new.
  func has(_ change: SyncedChange, _ hash: [UInt8]) -> Bool {
    guard received[change.key] == nil, change.refused == nil || values[StateKey.refused.key(change.key)] == change.refused else {
      return false
    }
    guard change.value != nil else { return record(change.key) == nil }
    return record(change.key) == SyncedRecord(dot: change.dot, entry: change.entry, hash: hash)
  }

  /// The hashes that are noted before values are written. Those of an interrupted delivery stay until it is made again.
  func receiving(_ hashes: [(key: String, hash: [UInt8])]) -> PropertyListValue {
    var all = received
    for (key, hash) in hashes { all[key] = .data(hash) }
    return .dictionary(all)
  }

  // MARK: After values were received

  /// A change that is in the store now.
  struct Taken {
    let change: SyncedChange
    let hash: [UInt8]
    /// The hash of the value that the app has seen before; nil if it has seen this one.
    let former: [UInt8]?
  }

  /// The changes of this domain that end a delivery.
  func edits(
    _ taken: [Taken], of changes: [SyncedChange], _ reason: SyncedReason, _ entry: UInt64?, after seen: Int64
  ) -> [(key: String, value: PropertyListValue?)] {
    var edits: [(key: String, value: PropertyListValue?)] = []
    var told = PropertyListDictionary()
    var room = SyncedProjection.refusedByteCount - refusedByteCount
    for item in taken {
      let change = item.change
      if let former = item.former { told[change.key] = .data(former) }
      let record = SyncedRecord(dot: change.dot, entry: change.entry, hash: item.hash)
      edits.append((StateKey.record.key(change.key), change.value == nil ? nil : record.value))
      guard let refused = change.refused else { continue }
      room -= refused.journalBytes.count
      if room >= 0 { edits.append((StateKey.refused.key(change.key), refused)) }
    }
    if let entry { edits.append((StateKey.delivered, .number(entry))) }
    var others = received
    for change in changes { others[change.key] = nil }
    edits.append((StateKey.receiving, others.isEmpty ? nil : .dictionary(others)))
    if !told.isEmpty || reason == .initialSync || reason == .accountChange { edits += events(adding: told, reason, after: seen) }
    return edits
  }

  private var refusedByteCount: Int {
    values.unsorted.reduce(0) { StateKey.refused.name(in: $1.key) == nil ? $0 : $0 + $1.value.journalBytes.count }
  }

  /// A new event, and the oldest ones merged if there are too many: an app that did not run for long gets all keys.
  private func events(
    adding keys: PropertyListDictionary, _ reason: SyncedReason, after seen: Int64
  ) -> [(key: String, value: PropertyListValue?)] {
    let known = SyncedStore.events(in: values, after: .min)
    // The app's number is greater if this domain was lost.
    let last = max(known.last?.sequence ?? 0, seen)
    let new = SyncedEvent(sequence: last + 1, reason: reason, keys: keys)
    var all = known + [new]
    var byteCount = all.reduce(0) { $0 + $1.byteCount }
    var edits: [(key: String, value: PropertyListValue?)] = []
    while all.count > SyncedProjection.eventCount || byteCount > SyncedProjection.eventByteCount {
      // Two of three events are of one kind. The new one stays as it is.
      let pairs = [(0, 1), (0, 2), (1, 2)].filter { $1 < all.count - 1 }
      guard let (first, second) = pairs.first(where: { all[$0].isRefusal == all[$1].isRefusal }) else { break }
      var both = all[first].merged(with: all[second])
      if both.keys.count > SyncedProjection.mergedKeyCount { both = both.keeping { record($0) != nil } }
      byteCount += both.byteCount - all[first].byteCount - all[second].byteCount
      edits.append((StateKey.event(all[first].sequence), nil))
      all[second] = both
      all.remove(at: first)
    }
    // Others were merged into the first ones at most.
    for event in all.prefix(2) + [new] { edits.append((StateKey.event(event.sequence), event.value)) }
    return edits
  }
}
