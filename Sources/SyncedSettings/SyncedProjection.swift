package import AppContainers
package import CofferFiles
package import CofferPreferences
package import CofferPropertyLists
internal import Synchronization

/// A value that comes from the log.
package struct SyncedChange: Sendable {
  /// The key.
  package let key: String
  /// nil if the log has no value.
  package let value: PropertyListValue?
  /// The dot of the value; 16 bytes.
  package let dot: [UInt8]
  /// The number of the entry that the value is from.
  package let entry: UInt64
  /// A value of this device that gives way: it is kept as refused.
  package let refused: PropertyListValue?

  /// - Parameters:
  ///   - key: The key.
  ///   - value: nil if the log has no value.
  ///   - dot: The dot of the value.
  ///   - entry: The number of the entry that the value is from.
  ///   - refused: A value of this device that gives way, though the log does not have it.
  package init(
    _ key: String, _ value: PropertyListValue?, dot: [UInt8], entry: UInt64, refusing refused: PropertyListValue? = nil
  ) {
    self.key = key
    self.value = value
    self.dot = dot
    self.entry = entry
    self.refused = refused
  }
}

/// A value of this device that the log does not have.
package struct PendingValue: Sendable, Equatable {
  /// The key.
  package let key: String
  /// nil if the value was removed.
  package let value: PropertyListValue?
  /// The hash of the value, for `sent`; empty if the value was removed.
  package let hash: [UInt8]
  /// The dot of the value that was sent or received last; nil if the log had none.
  package let dot: [UInt8]?
}

/// A store, as the program that synchronises sees it. One process has it at a time.
///
/// The log's state is the truth, and the files of a store are made from it: after a crash, `receive` is called again with the same
/// values, and nothing is lost or told twice. A value, or its absence, whose hash is not the one that was sent or received last is
/// pending, whichever process wrote it.
///
/// Thread-safe.
package final class SyncedProjection: Sendable {
  /// The number of events that are kept; older ones are merged.
  package static let eventCount = 256
  /// The size of all events, in bytes, above which the oldest are merged.
  static let eventByteCount = 512 << 10
  /// The number of keys above which a merged event leaves out those without a value.
  static let mergedKeyCount = 2048
  /// The size of all refused values, in bytes. Further ones are not kept.
  package static let refusedByteCount = 1 << 20

  /// The files.
  package let store: SyncedStore
  private let hash: @Sendable ([UInt8]) -> [UInt8]
  private let receiving = Mutex(())

  /// The store at a place of the user.
  /// - Parameters:
  ///   - place: The place of the store.
  ///   - data: The user's data directory.
  ///   - hash: The hash of bytes, the same at each call. No two values may have one hash.
  /// - Returns: nil if the container does not exist.
  /// - Throws: `symbolicLink`, `notADirectory`; errors of the system.
  package convenience init?(
    _ place: SyncedPlace, in data: DataDirectory, hash: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) throws(FileError) {
    guard let directory = try place.directory(in: data, isMade: true) else { return nil }
    // By its descriptor: the app could put a link in the place of the directory at any time.
    let requests = try directory.makeDirectory(FileName(SyncedStore.requestsDirectory))
    self.init(
      SyncedStore(place.name, in: PreferenceDirectory(directory), byHost: PreferenceDirectory(requests)), hash: hash)
  }

  /// - Parameters:
  ///   - store: The files.
  ///   - hash: The hash of bytes.
  package init(_ store: SyncedStore, hash: @escaping @Sendable ([UInt8]) -> [UInt8]) {
    self.store = store
    self.hash = hash
  }

  /// The hash of a value; empty if there is none.
  /// - Parameter value: The value of a key.
  package func hash(of value: PropertyListValue?) -> [UInt8] { value.map { hash($0.journalBytes) } ?? [] }

  // MARK: To the log

  /// Whether a journal was damaged since `noteDamage`: the store may lack values, or have older ones, without a change by a program.
  /// - Throws: An error, if the files cannot be read.
  package func isDamaged() throws(PreferenceError) -> Bool {
    var known: Set<String> = []
    if case .array(let names)? = store.state.value(forKey: StateKey.damaged) {
      for case .string(let name) in names { known.insert(name) }
    }
    return try !store.values.damagedJournals().allSatisfy(known.contains)
  }

  /// Notes that the store has met the log again since its journal was damaged.
  /// - Throws: An error of the system.
  package func noteDamage() throws(PreferenceError) {
    let names = try store.values.damagedJournals()
    try store.state.set(names.isEmpty ? nil : .array(names.map { .string($0) }), forKey: StateKey.damaged)
  }

  /// The keys whose values stay on this machine, because the log has no such keys: they are empty, or too long. In byte order.
  package var unsharedKeys: [String] { store.values.values().keys.filter { !SyncedStore.isShared($0) }.sorted() }

  /// The values that the log does not have, in the byte order of their keys, without those of `unsharedKeys`.
  /// - Throws: An error, if values cannot be read.
  package func pending() throws(PreferenceError) -> [PendingValue] {
    let values = try store.values.completeValues()
    let state = SyncedState(try store.state.completeValues())
    var names = Set(values.keys.map { PropertyListDictionary.Key($0) })
    names.formUnion(state.recordedKeys)
    return names.sorted().compactMap { key in
      guard SyncedStore.isShared(key.name) else { return nil }
      let hash = hash(of: values[key])
      let record = state.record(key.name)
      guard !state.knows(hash, key.name) else { return nil }
      return PendingValue(key: key.name, value: values[key], hash: hash, dot: record?.dot)
    }
  }

  /// The value of this machine, if it has the value of a write of the log, or one that was set after that.
  /// - Parameters:
  ///   - key: The key.
  ///   - dot: The dot of the write.
  /// - Returns: nil if the store has no value, or that of another write.
  /// - Throws: An error, if values cannot be read.
  package func value(_ key: String, after dot: [UInt8]) throws(PreferenceError) -> PropertyListValue? {
    guard SyncedState(try store.state.completeValues()).record(key)?.dot == dot else { return nil }
    return try store.values.completeValues()[key]
  }

  /// Notes that the log has a value of this device.
  /// - Parameters:
  ///   - key: The key.
  ///   - hash: The hash of the value, as `pending` gave it.
  ///   - dot: The dot of the value.
  ///   - entry: The number of the entry.
  /// - Throws: An error of the system.
  package func sent(_ key: String, hash: [UInt8], dot: [UInt8], entry: UInt64) throws(PreferenceError) {
    let record = hash.isEmpty ? nil : SyncedRecord(dot: dot, entry: entry, hash: hash).value
    // The values reach the disk first. Otherwise an older value would seem to be a later change, after a power loss.
    try store.values.synchronize()
    try store.state.apply([(StateKey.record.key(key), record), (StateKey.refused.key(key), nil)])
  }

  /// The number of the last entry whose changes are in the store; nil if there is none.
  package var delivered: UInt64? { store.state.value(forKey: StateKey.delivered)?.natural }

  /// The values of this device that the log has refused.
  package var refused: PropertyListDictionary {
    var refused = PropertyListDictionary()
    for (key, value) in store.state.values().unsorted {
      if let name = StateKey.refused.name(in: key) { refused[name] = value }
    }
    return refused
  }

  /// Removes the values that the log has refused.
  /// - Throws: An error of the system.
  package func forgetRefused() throws(PreferenceError) {
    try store.state.apply(refused.keys.map { (StateKey.refused.key($0), nil) })
  }

  // MARK: From the log

  /// Writes the log's values into the store, and tells the app of those that are new to it. Values that the store has already cost
  /// nothing, so all of a store may be given each time.
  /// - Parameters:
  ///   - changes: Each key once.
  ///   - reason: The reason that the app is told. For `initialSync` and `accountChange` it is told even if no value is new.
  ///   - entry: The number of the last entry that the changes are from.
  /// - Returns: The keys that were left alone, because their value is pending and not `refused` of the change: the caller sends
  ///   these values first.
  /// - Throws: An error of the system. Then the call is to be made again.
  @discardableResult
  package func receive(_ changes: [SyncedChange], _ reason: SyncedReason, through entry: UInt64? = nil) throws(PreferenceError)
    -> [String]
  {
    let result = receiving.withLock { _ -> Result<[String], PreferenceError> in
      do throws(PreferenceError) {
        return .success(try receiveAlone(changes, reason, entry))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func receiveAlone(
    _ changes: [SyncedChange], _ reason: SyncedReason, _ entry: UInt64?
  ) throws(PreferenceError) -> [String] {
    let state = SyncedState(try store.state.completeValues())
    let wanted = changes.map { ($0, hash(of: $0.value)) }.filter { change, hash in
      !state.has(change, hash) || store.values.value(forKey: change.key) != change.value
    }
    guard !wanted.isEmpty else {
      try store.state.apply(state.edits([], of: changes, reason, entry, after: store.seen))
      return []
    }
    // The hashes first: a value that was written before a crash is then known as the log's.
    try store.state.set(state.receiving(wanted.map { ($0.0.key, $0.1) }), forKey: StateKey.receiving)
    var taken: [SyncedState.Taken] = []
    try store.values.update(wanted.map { $0.0.key }) { values in
      taken = wanted.compactMap { change, hash in take(change, hash, over: values[change.key], state) }
      return taken.map { ($0.change.key, $0.change.value) }
    }
    // They reach the disk first. Otherwise the older values would seem to be later changes, after a power loss. The property list
    // follows: this process may be about to end.
    do { try store.values.settle() } catch { try store.values.synchronize() }
    try store.state.apply(state.edits(taken, of: changes, reason, entry, after: store.seen))
    let known = Set(taken.map { PropertyListDictionary.Key($0.change.key) })
    return wanted.map { $0.0.key }.filter { !known.contains(.init($0)) }
  }

  /// Returns nil if the present value is pending.
  private func take(
    _ change: SyncedChange, _ hash: [UInt8], over value: PropertyListValue?, _ state: SyncedState
  ) -> SyncedState.Taken? {
    let present = self.hash(of: value)
    if let refused = change.refused, value == refused || present == hash {
      return .init(change: change, hash: hash, former: self.hash(of: refused))
    }
    if present == hash, !state.wasReceiving(hash, change.key) {
      return .init(change: change, hash: hash, former: nil)
    }
    guard state.knows(present, change.key) else { return nil }
    let former = state.record(change.key)?.hash ?? []
    return .init(change: change, hash: hash, former: former == hash ? nil : former)
  }
}
