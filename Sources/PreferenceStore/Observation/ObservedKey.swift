internal import CofferPreferences
internal import CofferPropertyLists
internal import Foundation
internal import Observation
internal import Synchronization

/// The state that all readers of one key of one store share: a change notifies the readers of this key and no others.
///
/// Swift's `Observation` notifies before a value changes. A change made through this object is announced, then made. Any other
/// change is announced when the store delivers it; during that delivery, the delivering thread reads the previous value. In both
/// cases a notified reader finds the old value, and the new one afterwards.
///
/// Thread-safe. Observers run outside of all locks.
final class ObservedKey: Observable, Sendable {
  private struct State {
    /// The previous value, which the thread that is delivering a change reads meanwhile.
    var delivered: (thread: pthread_t, value: PropertyListValue?)?
    /// The values that announced changes are writing.
    var announced: [Announcement] = []
    /// The threads that are notifying readers, and whether they have to notify once more afterwards.
    var tellers: [pthread_t: Bool] = [:]
    var next = 0
    var owners: [(id: Int, owner: any SettingOwner)] = []

    mutating func nextID() -> Int {
      next += 1
      return next
    }

    /// Whether the change to this value, just made, was announced after the previous change was made.
    mutating func wasAnnounced(_ value: PropertyListValue?) -> Bool {
      let wasAnnounced = announced.contains { $0.isCurrent && $0.value == value }
      // Readers of the other announcements may have read again since, and seen this value.
      for place in announced.indices { announced[place].isCurrent = false }
      return wasAnnounced
    }
  }

  private struct Announcement {
    let id: Int
    let value: PropertyListValue?
    /// Cleared by the next change.
    var isCurrent = true
  }

  let name: String
  private let registrar = ObservationRegistrar()
  private let state = Mutex(State())
  private let isTelling = Atomic<Bool>(false)

  init(_ name: String) { self.name = name }

  /// Every reader of the value calls this before it reads.
  /// - Parameter path: The path of a use of this key.
  @inline(__always)
  func access(_ path: ReadPath) { registrar.access(self, keyPath: path) }

  /// - Returns: nil, nearly always, if the reader has to ask the store.
  @inline(__always)
  func toldValue() -> PropertyListValue?? {
    guard isTelling.load(ordering: .acquiring) else { return nil }
    return state.withLock { state in
      guard let delivered = state.delivered, delivered.thread == pthread_self() else { return nil }
      return .some(delivered.value)
    }
  }

  // MARK: Changes

  /// Announces that the value will change, then changes it.
  func change(to new: PropertyListValue?, _ write: () -> Void) {
    let id = state.withLock { state in
      // The thread that changes a value reads the new one from here on.
      if state.delivered?.thread == pthread_self() { state.delivered = nil }
      let id = state.nextID()
      state.announced.append(Announcement(id: id, value: new))
      return id
    }
    tellOwners()
    tellReaders()
    write()
    state.withLock { state in state.announced.removeAll { $0.id == id } }
  }

  /// The store delivers a change.
  func deliver(_ change: PreferenceChange) {
    guard let key = change.keys.first else { return }
    let isAnnounced = state.withLock { state in
      if state.wasAnnounced(key.new) { return true }
      state.delivered = (pthread_self(), key.old)
      return false
    }
    guard !isAnnounced else {
      // The readers of that announcement have been removed. Those left have read again since, and may have seen the old value.
      return tellReaders()
    }
    isTelling.store(true, ordering: .releasing)
    tellOwners()
    tellReaders()
    isTelling.store(false, ordering: .releasing)
    state.withLock { $0.delivered = nil }
  }

  /// `Observation` repeats the notification for a reader that sets the value during it. Such changes are postponed until all
  /// readers are notified.
  private func tellReaders() {
    let thread = pthread_self()
    let isFirst = state.withLock { state in
      defer { state.tellers[thread] = state.tellers[thread] != nil }
      return state.tellers[thread] == nil
    }
    guard isFirst else { return }
    repeat {
      registrar.withMutation(of: self, keyPath: Self.anyPath) {}
    } while state.withLock { state in
      let isAgain = state.tellers[thread] == true
      state.tellers[thread] = isAgain ? false : nil
      return isAgain
    }
  }

  /// A thread that sets the value during its delivery reads its own value from then on.
  func endTelling() {
    guard isTelling.load(ordering: .acquiring) else { return }
    state.withLock { state in
      if state.delivered?.thread == pthread_self() { state.delivered = nil }
    }
  }

  // MARK: Owners

  /// Notifies the owner before each change, until `remove`. An owner that was added several times is notified once.
  func add(_ owner: any SettingOwner) -> Int {
    state.withLock { state in
      let id = state.nextID()
      state.owners.append((id, owner))
      return id
    }
  }

  func remove(_ id: Int) { state.withLock { state in state.owners.removeAll { $0.id == id } } }

  private func tellOwners() {
    var told = Set<ObjectIdentifier>()
    for entry in state.withLock({ $0.owners }) where told.insert(ObjectIdentifier(entry.owner)).inserted {
      entry.owner.settingWillChange()
    }
  }
}

// MARK: Key paths

/// Lives as long as a key is in use, or Swift's `Observation` tracks a reader of it.
final class ReaderMark: Hashable, Sendable {
  // Each key has its own registrar, in which all marks stand for its value.
  static func == (left: ReaderMark, right: ReaderMark) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}

extension ObservedKey {
  /// A key path to pass to `Observation`, which retains it while it tracks a reader; the path retains its mark. `Observation` has
  /// no other way to find out whether a reader is waiting.
  typealias ReadPath = any KeyPath<ObservedKey, Void> & Sendable

  private subscript(mark: ReaderMark) -> Void { () }

  static func path(_ mark: ReaderMark) -> ReadPath { \ObservedKey[mark] }
  private static let anyPath = path(ReaderMark())
}
