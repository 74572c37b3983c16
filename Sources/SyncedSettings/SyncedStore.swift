internal import CofferFiles
package import CofferPreferences
internal import CofferPropertyLists

/// The files of a store, in one directory:
///
/// - `ID`: the values, an ordinary preference domain. All processes write it.
/// - `ID.sync`: the log's state of each value, and events. Only the program that synchronises writes it.
/// - `ByHost/ID`: the last event that the app has seen, and its requests. Only the app writes it.
///
/// Thread-safe.
package final class SyncedStore: Sendable {
  /// The maximum length of a key, in bytes of UTF-8.
  package static let keyByteCount = 64

  /// Whether the log may have a setting with this key.
  package static func isShared(_ key: String) -> Bool { (1...keyByteCount).contains(key.utf8.count) }

  /// The limits for what an app writes. The log has the same, and judges what several devices have written together.
  package static var limits: PreferenceLimits.OfDomain {
    var limits = PreferenceLimits.OfDomain()
    limits.keyByteCount = keyByteCount
    limits.valueByteCount = 1 << 20
    limits.byteCount = 1 << 20
    limits.areKeysCounted = false
    limits.keyCount = 1024
    return limits
  }

  /// The values.
  package let values: FileDomain
  let state: FileDomain
  let requests: FileDomain

  private static let seenName = "seen"
  private static let askedName = "asked"

  static let requestsDirectory = "ByHost"

  /// - Parameters:
  ///   - name: The name of the store.
  ///   - directory: The directory of its files.
  ///   - byHost: The directory of the requests; nil for `ByHost` in `directory`.
  ///   - options: The options of the domain of the values.
  package init(
    _ name: DomainName, in directory: PreferenceDirectory, byHost: PreferenceDirectory? = nil,
    _ options: FileDomain.Options = .init()
  ) {
    values = FileDomain(name, in: directory, options)
    state = FileDomain(name.onHost("sync"), in: directory)
    requests = FileDomain(name, in: byHost ?? PreferenceDirectory(Path.join(directory.path, Self.requestsDirectory)))
  }

  /// The store of a process that is not the one that synchronises.
  /// - Parameter process: Its name and directory.
  package convenience init(_ process: SyncedPlace.OfProcess) {
    var options = FileDomain.Options()
    options.limits = Self.limits
    self.init(process.name, in: process.directory, options)
  }

  /// An error with the paths that a person knows.
  /// - Parameter error: An error of one of the domains.
  package func named(_ error: PreferenceError) -> PreferenceError {
    PreferenceError(error.code, [values, requests].reduce(error.detail) { $1.directory.named($0) })
  }

  // MARK: Events

  /// The events that have come since the one with this number, in their order.
  /// - Parameter sequence: The number of an event.
  package func events(after sequence: Int64) -> [SyncedEvent] { Self.events(in: state.values(), after: sequence) }

  static func events(in values: PropertyListDictionary, after sequence: Int64) -> [SyncedEvent] {
    values.sorted.compactMap { SyncedEvent($0.key, $0.value) }.filter { $0.sequence > sequence }
  }

  /// The keys of events whose value is another one now than before the first of these events, in byte order.
  /// - Parameter events: In their order.
  package func changedKeys(in events: [SyncedEvent]) -> [String] {
    guard let first = events.first else { return [] }
    let all = events.dropFirst().reduce(first) { $0.merged(with: $1) }
    let state = state.values()
    return all.keys.sorted.compactMap { key, former in
      let hash = SyncedRecord(state[StateKey.record.key(key)])?.hash ?? []
      return hash == former.bytes ? nil : key
    }
  }

  /// Calls the handler with each event that comes, in order, outside of all locks.
  /// - Parameter handler: It may use the store.
  /// - Returns: The observation, which ends when this object is deallocated.
  package func observeEvents(_ handler: @escaping @Sendable (SyncedEvent) -> Void) -> PreferenceObservation {
    state.observe { change in
      let events = change.keys.compactMap { key in key.new.flatMap { SyncedEvent(key.name, $0) } }
      for event in events.sorted(by: { $0.sequence < $1.sequence }) { handler(event) }
    }
  }

  /// The number of the last event that a process of the app has seen; 0 if there was none.
  package var seen: Int64 { Self.seen(requests.value(forKey: Self.seenName)) }

  private static func seen(_ value: PropertyListValue?) -> Int64 {
    guard case .integer(let number)? = value, SyncedEvent.sequences.contains(number) else { return 0 }
    return number
  }

  /// Notes that a process of the app has seen an event.
  /// - Parameter sequence: The number of the event.
  /// - Throws: An error of the system.
  package func noteSeen(_ sequence: Int64) throws(PreferenceError) {
    try requests.update(Self.seenName) { Self.seen($0) < sequence ? .integer(sequence) : $0 }
  }

  // MARK: Requests

  /// Asks the program that synchronises to send the values now instead of after a pause. Returns at once.
  /// - Throws: An error of the system.
  package func askForPush() throws(PreferenceError) {
    try requests.update(Self.askedName) { old in
      if case .integer(let count)? = old { .integer(count &+ 1) } else { .integer(1) }
    }
  }

  /// Calls `changed` after each change of values by another process, and `asked` after each request to send them now.
  /// - Parameters:
  ///   - changed: Gets the keys.
  ///   - asked: A request.
  /// - Returns: The observation, which ends when this object is deallocated.
  package func observeRequests(
    changed: @escaping @Sendable ([String]) -> Void, asked: @escaping @Sendable () -> Void
  ) -> PreferenceObservation {
    let values = values.observe { change in
      if change.origin == .otherProcess { changed(change.keys.map(\.name)) }
    }
    let requests = requests.observe { change in
      if change.keys.contains(where: { $0.name == Self.askedName }) { asked() }
    }
    return PreferenceObservation {
      values.cancel()
      requests.cancel()
    }
  }
}
