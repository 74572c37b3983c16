public import CofferPreferences
internal import CofferPropertyLists

/// Converts settings of an older version of a program: a key has another name now, or its values another type.
///
/// ```swift
/// try defaults.migrate([
///   .rename("colour", to: "color"),
///   .convert("volume", from: Int.self, to: \.volume) { percent in Double(percent) / 100 },
/// ])
/// ```
public struct SettingMigration: Sendable {
  let keys: [String]
  /// Returns nil if there is nothing to do.
  let edits: @Sendable (PropertyListDictionary) -> [(key: String, value: PropertyListValue?)]?

  /// If the new key has a value already, both keys keep their values.
  public static func rename(_ old: String, to new: String) -> SettingMigration {
    SettingMigration(keys: [old, new]) { values in
      guard let value = values[old], values[new] == nil else { return nil }
      return [(old, nil), (new, value)]
    }
  }

  /// Gives a value another type, under the same key or another one. A value that has the new type already stays, so that the
  /// migration can run at each start. A value that does not have the old type stays too, as does one for which `convert` returns
  /// nil; both are reported in the log.
  public static func convert<Old: Storable, New>(
    _ old: String, from type: Old.Type, to key: Key<New>, _ convert: @escaping @Sendable (Old) -> New?
  ) -> SettingMigration {
    let name = key.name
    return SettingMigration(keys: [old, name]) { values in
      guard let stored = values[old], old == name ? !key.isStored(as: stored) : values[name] == nil else { return nil }
      guard let value = Old(storedValue: stored), let new = convert(value), let new = try? key.form.store(new) else {
        Diagnostics.notMigrated(old, to: New.self)
        return nil
      }
      return old == name ? [(name, new)] : [(old, nil), (name, new)]
    }
  }
}

extension SettingMigration {
  /// The same, by the key path of a key.
  public static func convert<Old: Storable, New>(
    _ old: String, from type: Old.Type, to path: KeyPath<SettingKeys, Key<New>>,
    _ convert: @escaping @Sendable (Old) -> New?
  ) -> SettingMigration {
    .convert(old, from: type, to: SettingKeys.key(path), convert)
  }
}

extension Key {
  /// Whether this is the stored form of the type, not only readable as the type: `1` is readable as `1.0`.
  fileprivate func isStored(as stored: PropertyListValue) -> Bool {
    guard let value = form.read(stored), let again = try? form.store(value) else { return false }
    return again == stored
  }
}

extension UserDefaults {
  /// Carries out all migrations in order, in one transaction. Only the user's own values of this domain are read. Migrations that
  /// have run already have no effect. `convert` may use the store; it is called again if the values change in the meantime.
  /// - Returns: The old keys of the migrations that had something to do.
  /// - Throws: As `store(_:forKey:)`. Then nothing has changed.
  @discardableResult
  public func migrate(_ migrations: [SettingMigration]) throws(PreferenceError) -> [String] {
    let keys = migrations.flatMap(\.keys)
    while true {
      var values = PropertyListDictionary()
      for key in keys { values[key] = application.own.value(forKey: key) }
      // Called without the lock of the domain, because it calls the program.
      let (edits, done) = Self.edits(of: values, migrations)
      if done.isEmpty { return [] }
      var isCurrent = false
      try application.own.update(keys) { current in
        isCurrent = current == values
        return isCurrent ? edits : []
      }
      if isCurrent { return done }
    }
  }

  private static func edits(
    of values: PropertyListDictionary, _ migrations: [SettingMigration]
  ) -> (all: [(key: String, value: PropertyListValue?)], done: [String]) {
    var values = values
    var all: [(key: String, value: PropertyListValue?)] = []
    var done: [String] = []
    for migration in migrations {
      guard let edits = migration.edits(values) else { continue }
      for edit in edits { values[edit.key] = edit.value }
      all += edits
      done += migration.keys.prefix(1)
    }
    return (all, done)
  }
}
