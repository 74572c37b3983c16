/// The initialisers for each kind of value. If several match, as for a type that the program extends with `RawRepresentable`, the
/// one that stores raw values is chosen.
extension AppStorage {
  /// A value of an enum, or of another type with raw values.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil)
  where Value: RawRepresentable & SendableMetatype, Value.RawValue == Int {
    self.init(key, wrappedValue, .rawValue, store)
  }

  /// A value of an enum, or of another type with raw values.
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil)
  where Value: RawRepresentable & SendableMetatype, Value.RawValue == String {
    self.init(key, wrappedValue, .rawValue, store)
  }

  /// A value of an enum; nil if there is none.
  public init<Wrapped>(_ key: String, store: UserDefaults? = nil)
  where Value == Wrapped?, Wrapped: RawRepresentable & SendableMetatype, Wrapped.RawValue == Int {
    self.init(key, nil, .optional(StoredForm<Wrapped>.rawValue), store)
  }

  /// A value of an enum; nil if there is none.
  public init<Wrapped>(_ key: String, store: UserDefaults? = nil)
  where Value == Wrapped?, Wrapped: RawRepresentable & SendableMetatype, Wrapped.RawValue == String {
    self.init(key, nil, .optional(StoredForm<Wrapped>.rawValue), store)
  }

  /// `Bool`, `Int`, `Double`, `String`, `URL`, `Data`, `Date`, …
  @_disfavoredOverload
  public init(wrappedValue: Value, _ key: String, store: UserDefaults? = nil) where Value: Storable {
    self.init(key, wrappedValue, .storable, store)
  }

  /// A value; nil if there is none. Setting nil removes it.
  @_disfavoredOverload
  public init<Wrapped: Storable>(_ key: String, store: UserDefaults? = nil) where Value == Wrapped? {
    self.init(key, nil, .optional(StoredForm<Wrapped>.storable), store)
  }
}

extension AppStorage {
  /// A setting with a typed key.
  public init(_ key: Key<Value>, store: UserDefaults? = nil) where Value: Sendable {
    self.init(key.name, key.defaultValue, key.form, store)
  }

  /// The same, by the key path of a key.
  public init(_ path: KeyPath<SettingKeys, Key<Value>>, store: UserDefaults? = nil) where Value: Sendable {
    self.init(SettingKeys.key(path), store: store)
  }
}
