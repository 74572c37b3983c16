/// A setting with its name, type and default value, declared in one place and checked by the compiler at each use.
///
/// ```swift
/// extension SettingKeys {
///   var volume: Key<Double> { Key("volume", default: 0.8) }
///   var nickname: Key<String?> { Key("nickname") }
/// }
///
/// defaults[\.volume] = 0.5
/// @Default(\.volume) var volume
/// ```
public struct Key<Value: Sendable>: Sendable {
  /// The name of the setting.
  public let name: String
  /// The value that reading returns if none is stored.
  public let defaultValue: Value
  let form: StoredForm<Value>
}

extension Key where Value: Storable {
  /// A key with its name and default.
  public init(_ name: String, default defaultValue: Value) {
    self.init(name: name, defaultValue: defaultValue, form: .storable)
  }
}

extension Key {
  /// A key that may have no value. Setting nil removes it.
  public init<Wrapped: Storable>(_ name: String) where Value == Wrapped? {
    self.init(name: name, defaultValue: nil, form: .optional(StoredForm<Wrapped>.storable))
  }
}

/// The settings of a program: extend it with a property for each key, and refer to them by key path.
public struct SettingKeys: Sendable {
  static func key<Value>(_ path: KeyPath<SettingKeys, Key<Value>>) -> Key<Value> { SettingKeys()[keyPath: path] }
}
