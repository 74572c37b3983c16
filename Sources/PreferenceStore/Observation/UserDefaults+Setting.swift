internal import CofferPreferences
internal import CofferPropertyLists
internal import Foundation

/// Access to a store by `@AppStorage` and typed keys. For a subclass, which may override reading and writing, they go through its
/// public methods.
extension UserDefaults {
  @inline(__always)
  var isSubclassed: Bool { type(of: self) != UserDefaults.self }

  @inline(__always)
  func storedValue(forKey key: String) -> PropertyListValue? {
    guard isSubclassed else { return list.value(forKey: key) }
    return object(forKey: key).flatMap { try? PropertyListValue(storing: $0, forKey: key) }
  }

  func setStoredValue(_ value: PropertyListValue?, forKey key: String) {
    guard isSubclassed else { return write(value, key) }
    guard let value else { return removeObject(forKey: key) }
    // A value of the program's own type may be deeper than Foundation's values are allowed to be.
    guard PreferenceLimits.allowDepth(of: value) else {
      return Diagnostics.notSaved(PreferenceError(.valueTooDeep, key), application.name)
    }
    set(value.foundationValue, forKey: key)
  }

  /// Whether a preceding place of the search list has a value, so that setting one would not change what is read.
  func isHidden(_ key: String) -> Bool {
    guard !isSubclassed else { return false }
    for entry in list.entries {
      if entry.domain === application.own { return false }
      if entry.domain.value(forKey: key) != nil { return true }
    }
    return false
  }
}

extension SearchList {
  /// Whether the value that is read comes from the command line.
  private func isArgument(_ key: String) -> Bool {
    entries.first { $0.domain.value(forKey: key) != nil }?.kind == .argument
  }

  /// nil if there is no value, or one of another type.
  /// - Parameter report: Called for a value of another type.
  @inline(__always)
  func read<Value>(
    _ stored: PropertyListValue?, forKey key: String, as form: StoredForm<Value>, _ report: (PropertyListValue) -> Void = { _ in }
  ) -> Value? {
    guard let stored else { return nil }
    if let value = form.read(stored) { return value }
    return readOther(stored, key, form, report)
  }

  @inline(never)
  private func readOther<Value>(
    _ stored: PropertyListValue, _ key: String, _ form: StoredForm<Value>, _ report: (PropertyListValue) -> Void
  ) -> Value? {
    if isArgument(key), let value = form.readArgument(stored) { return value }
    report(stored)
    return nil
  }
}

extension UserDefaults {
  /// The number of keys that have readers, or had some that were not swept yet.
  package var observedKeyCount: Int { observedKeys.count }
}
