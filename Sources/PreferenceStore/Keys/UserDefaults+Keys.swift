public import CofferPreferences
internal import CofferPropertyLists

extension UserDefaults {
  /// The stored value, or the key's default if there is none or one of another type, which is left unchanged and reported in the
  /// log. Setting nil, if the type is Optional, removes the value. Reading here is not tracked by Swift's `Observation`; reading
  /// `@Default` is.
  public subscript<Value>(path: KeyPath<SettingKeys, Key<Value>>) -> Value {
    get { value(of: SettingKeys.key(path)) }
    set { set(newValue, for: SettingKeys.key(path)) }
  }

  /// As the subscript, for a key that is not in `SettingKeys`. (A second subscript would make the compiler's message for a
  /// misspelt key path useless.)
  public func value<Value>(of key: Key<Value>) -> Value {
    list.read(storedValue(forKey: key.name), forKey: key.name, as: key.form) { stored in
      observedKeys.report(stored, forKey: key.name, isNo: Value.self)
    } ?? key.defaultValue
  }

  /// Stores the value of a typed key.
  public func set<Value>(_ value: Value, for key: Key<Value>) {
    do {
      setStoredValue(try key.form.store(value), forKey: key.name)
    } catch {
      Diagnostics.notStorable(key.name, error)
    }
  }

  /// Removes the value that this program has stored, so that the next domain's value is read, or the default.
  public func reset<Value>(_ key: Key<Value>) { removeObject(forKey: key.name) }
  /// The same, by the key path of a key.
  public func reset<Value>(_ path: KeyPath<SettingKeys, Key<Value>>) { reset(SettingKeys.key(path)) }

  /// Calls `action` on the main actor after each change, with the old and the new value, as `Binding.onChange` does.
  public func onChange<Value>(
    of key: Key<Value>, _ action: @escaping @MainActor (_ old: Value, _ new: Value) -> Void
  ) -> PreferenceObservation {
    list.onChange(key.name, key.form, key.defaultValue, action)
  }

  /// The same, by the key path of a key.
  public func onChange<Value>(
    of path: KeyPath<SettingKeys, Key<Value>>, _ action: @escaping @MainActor (_ old: Value, _ new: Value) -> Void
  ) -> PreferenceObservation {
    onChange(of: SettingKeys.key(path), action)
  }
}
