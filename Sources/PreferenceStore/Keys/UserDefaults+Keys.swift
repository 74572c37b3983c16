public import Preferences
internal import PropertyLists

extension UserDefaults {
  /// What is stored under the key, or its default, where there is nothing or something of another type; that is left as it is and
  /// reported. Setting nil, where the type has it, removes. Reading here is no dependency for Swift's `Observation`: `@Default` is.
  public subscript<Value>(path: KeyPath<SettingKeys, Key<Value>>) -> Value {
    get { value(of: SettingKeys.key(path)) }
    set { set(newValue, for: SettingKeys.key(path)) }
  }

  /// As the subscript, for a key that is in no `SettingKeys`. (As a subscript too, it would spoil what the compiler says of a key path
  /// that is misspelt.)
  public func value<Value>(of key: Key<Value>) -> Value {
    list.read(storedValue(forKey: key.name), forKey: key.name, as: key.form) { stored in
      observedKeys.report(stored, forKey: key.name, isNo: Value.self)
    } ?? key.defaultValue
  }

  public func set<Value>(_ value: Value, for key: Key<Value>) {
    do {
      setStoredValue(try key.form.store(value), forKey: key.name)
    } catch {
      Diagnostics.notStorable(key.name, error)
    }
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
