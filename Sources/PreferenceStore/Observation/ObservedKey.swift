internal import Foundation
internal import Observation
internal import Preferences
internal import PropertyLists
internal import Synchronization

/// What all readers of one key of one store share: who has read it is told when it changes, and nobody else.
///
/// A reader of Swift's `Observation` is told before the value changes, as far as this process can know: a change that is made here by
/// way of this object is announced, then made. Any other is announced when the store tells of it, and while that is being told, the
/// thread that tells reads the value from before. So who is told finds the old value in all cases, and the new one afterwards.
///
/// Thread-safe. Observers run outside of all locks.
final class ObservedKey: Observable, Sendable {
  private struct State {
    /// What the thread that tells of a change reads meanwhile.
    var told: (thread: pthread_t, value: PropertyListValue?)?
    /// What is being written by those who have announced it.
    var announced: [Announcement] = []
    /// Who is telling the readers at this moment, and whether they have to be told once more after that.
    var tellers: [pthread_t: Bool] = [:]
    var next = 0
    var owners: [(id: Int, owner: any SettingOwner)] = []

    mutating func nextID() -> Int {
      next += 1
      return next
    }

    /// Whether the change to this value, which has just been made, was announced after the one before it was made.
    mutating func wasAnnounced(_ value: PropertyListValue?) -> Bool {
      let wasAnnounced = announced.contains { $0.isCurrent && $0.value == value }
      // Who was told of the others may have looked again, and seen this value.
      for place in announced.indices { announced[place].isCurrent = false }
      return wasAnnounced
    }
  }

  private struct Announcement {
    let id: Int
    let value: PropertyListValue?
    /// Until another change is made.
    var isCurrent = true
  }

  let name: String
  private let registrar = ObservationRegistrar()
  private let state = Mutex(State())
  private let isTelling = Atomic<Bool>(false)

  init(_ name: String) { self.name = name }

  /// To be called by whoever reads the value, before that.
  /// - Parameter path: Of a use of this key.
  @inline(__always)
  func access(_ path: ReadPath) { registrar.access(self, keyPath: path) }

  /// - Returns: Nil where the store is to be asked, which is nearly always so.
  @inline(__always)
  func toldValue() -> PropertyListValue?? {
    guard isTelling.load(ordering: .acquiring) else { return nil }
    return state.withLock { state in
      guard let told = state.told, told.thread == pthread_self() else { return nil }
      return .some(told.value)
    }
  }

  // MARK: Changes

  /// Tells that the value will change, and then changes it.
  func change(to new: PropertyListValue?, _ write: () -> Void) {
    let id = state.withLock { state in
      // Who changes a value reads the new one.
      if state.told?.thread == pthread_self() { state.told = nil }
      let id = state.nextID()
      state.announced.append(Announcement(id: id, value: new))
      return id
    }
    tellOwners()
    tellReaders()
    write()
    state.withLock { state in state.announced.removeAll { $0.id == id } }
  }

  /// The store tells that it has changed.
  func deliver(_ change: PreferenceChange) {
    guard let key = change.keys.first else { return }
    let isAnnounced = state.withLock { state in
      if state.wasAnnounced(key.new) { return true }
      state.told = (pthread_self(), key.old)
      return false
    }
    guard !isAnnounced else {
      // Only those who have looked again since it was announced, and may have seen the old value, are still there to be told.
      return tellReaders()
    }
    isTelling.store(true, ordering: .releasing)
    tellOwners()
    tellReaders()
    isTelling.store(false, ordering: .releasing)
    state.withLock { $0.told = nil }
  }

  /// `Observation` goes on telling a reader that sets the value while it is told: that is put off until all have been told.
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

  /// Whoever sets what is being told already reads it from then on, as with any other value.
  func endTelling() {
    guard isTelling.load(ordering: .acquiring) else { return }
    state.withLock { state in
      if state.told?.thread == pthread_self() { state.told = nil }
    }
  }

  // MARK: Owners

  /// Tells the owner before each change, until `remove`; one that was added several times, once.
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

/// Lives as long as somebody uses a key, or Swift's `Observation` tracks a reader of it.
final class ReaderMark: Hashable, Sendable {
  // Each key has a registrar of its own, in which all of them stand for its value.
  static func == (left: ReaderMark, right: ReaderMark) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}

extension ObservedKey {
  /// Stands for the value where `Observation` wants a key path, which it keeps as long as it tracks; and the path keeps its mark. That
  /// is the only way to learn whether somebody waits.
  typealias ReadPath = any KeyPath<ObservedKey, Void> & Sendable

  private subscript(mark: ReaderMark) -> Void { () }

  static func path(_ mark: ReaderMark) -> ReadPath { \ObservedKey[mark] }
  private static let anyPath = path(ReaderMark())
}
