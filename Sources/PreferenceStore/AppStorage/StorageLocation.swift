internal import CofferPreferences
internal import CofferPropertyLists
internal import Synchronization

/// The storage of one wrapper: the key, the stored form and the value that is read if the key has none.
///
/// Copies of a wrapper share it.
final class StorageLocation<Value> {
  let name: String
  private let initialValue: Value
  private let form: StoredForm<Value>
  /// nil for the default store, which is determined at each use.
  private let store: UserDefaults?
  /// The default store of the scope in which this wrapper was made.
  private let scope: UserDefaults?
  private let state = Mutex(LocationState())

  init(_ name: String, _ initialValue: Value, _ form: StoredForm<Value>, _ store: UserDefaults?) {
    self.name = name
    self.initialValue = initialValue
    self.form = form
    self.store = store
    scope = store == nil ? UserDefaults.scopedDefaultAppStorage : nil
  }

  private var currentStore: UserDefaults {
    store ?? UserDefaults.scopedDefaultAppStorage ?? scope ?? UserDefaults.defaultAppStorage
  }

  private func use() -> StoreUse {
    // A wrapper with an explicit store keeps one use. Determining the default store takes longer than reading.
    if store != nil, let use = state.withLock({ $0.use }) { return use }
    let store = currentStore
    if let use = state.withLock({ $0.use }), use.store === store { return use }
    let use = StoreUse(store: store, observed: store.observedKeys.use(name, of: store.use))
    // Release the previous use outside of the lock.
    let old = state.withLock { state in
      let old = state
      state.follow(use)
      return old
    }
    withExtendedLifetime(old) {}
    return use
  }

  var value: Value {
    get {
      let use = use()
      let key = use.observed.key
      key.access(use.observed.path)
      let stored = key.toldValue() ?? use.storedValue(forKey: name)
      return use.list.read(stored, forKey: name, as: form) { stored in
        use.store.observedKeys.report(stored, forKey: name, isNo: Value.self)
      } ?? initialValue
    }
    set {
      let use = use()
      let store = use.store
      do {
        let stored = try form.store(newValue)
        if store.storedValue(forKey: name) == stored || store.isHidden(name) {
          // A preceding place hides the value, so readers see no change, but it is stored all the same.
          use.observed.key.endTelling()
          store.setStoredValue(stored, forKey: name)
        } else {
          use.observed.key.change(to: stored) { store.setStoredValue(stored, forKey: name) }
        }
      } catch {
        Diagnostics.notStorable(name, error)
      }
    }
  }
}

extension StorageLocation: Sendable where Value: Sendable {}

extension StorageLocation where Value: Sendable {
  func onChange(_ action: @escaping @MainActor (Value, Value) -> Void) -> PreferenceObservation {
    currentStore.list.onChange(name, form, initialValue, action)
  }
}

extension StorageLocation {
  var owner: (any SettingOwner)? { state.withLock { $0.owner } }

  func setOwner(_ owner: any SettingOwner) {
    let use = use()
    state.withLock { state in
      if state.owner == nil { state.owner = owner }
      state.follow(use)
    }
  }
}

/// A store and the state that all readers of the key share. A class, so that a reader retains one object instead of each part.
private final class StoreUse: Sendable {
  let store: UserDefaults
  let list: SearchList
  let observed: ObservedKeyUse
  private let isSubclassed: Bool

  init(store: UserDefaults, observed: ObservedKeyUse) {
    self.store = store
    list = store.list
    self.observed = observed
    isSubclassed = store.isSubclassed
  }

  /// Reads as the store does. Reads from the list, because retaining the store, which is weakly observed, takes longer.
  @inline(__always)
  func storedValue(forKey name: String) -> PropertyListValue? {
    isSubclassed ? store.storedValue(forKey: name) : list.value(forKey: name)
  }
}

private struct LocationState: Sendable {
  var use: StoreUse?
  var owner: (any SettingOwner)?
  var announcement: SettingAnnouncement?

  mutating func follow(_ use: StoreUse) {
    self.use = use
    announcement = owner.map { SettingAnnouncement(use.observed, to: $0) }
  }
}
