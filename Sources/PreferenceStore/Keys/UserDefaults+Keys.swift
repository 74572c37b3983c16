public import Preferences
internal import PropertyLists

extension UserDefaults {
  /// What is stored under the key, or its default, where there is nothing or something of another type; that is left as it is and
  /// reported. Setting nil, where the type has it, removes. Reading here is no dependency for Swift's `Observation`: `@Default` is.
  public subscript<Value>(key: Key<Value>) -> Value {
    get {
      list.read(storedValue(forKey: key.name), forKey: key.name, as: key.form) { _ in
        Diagnostics.notReadable(key.name, Value.self)
      } ?? key.defaultValue
    }
    set {
      do {
        setStoredValue(try key.form.store(newValue), forKey: key.name)
      } catch {
        Diagnostics.notStorable(key.name, error)
      }
    }
  }

  public subscript<Value>(path: KeyPath<SettingKeys, Key<Value>>) -> Value {
    get { self[SettingKeys.key(path)] }
    set { self[SettingKeys.key(path)] = newValue }
  }

  /// Removes what this program has stored, so that what other domains say shows again, or else the default.
  public func reset<Value>(_ key: Key<Value>) { removeObject(forKey: key.name) }
  public func reset<Value>(_ path: KeyPath<SettingKeys, Key<Value>>) { reset(SettingKeys.key(path)) }

  /// Calls `action` on the main actor after each change, with the old and the new value. As `Binding.onChange`.
  public func onChange<Value>(
    of key: Key<Value>, _ action: @escaping @MainActor (_ old: Value, _ new: Value) -> Void
  ) -> PreferenceObservation {
    list.onChange(key.name, key.form, key.defaultValue, action)
  }

  public func onChange<Value>(
    of path: KeyPath<SettingKeys, Key<Value>>, _ action: @escaping @MainActor (_ old: Value, _ new: Value) -> Void
  ) -> PreferenceObservation {
    onChange(of: SettingKeys.key(path), action)
  }
}
