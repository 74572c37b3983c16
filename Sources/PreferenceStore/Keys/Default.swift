/// A setting that is declared elsewhere, by its key path: in `SettingKeys`, or in a settings object of the program.
///
/// ```swift
/// @Default(\.volume) var volume
/// @Default(\AppSettings.name, in: settings) var name
/// ```
@propertyWrapper
public struct Default<Value>: DynamicProperty {
  private let binding: Binding<Value>

  /// A setting with a typed key.
  /// - Parameters:
  ///   - path: The key path of the key.
  ///   - store: nil for the default store, as with `@AppStorage`.
  public init(_ path: KeyPath<SettingKeys, Key<Value>>, store: UserDefaults? = nil) where Value: Sendable {
    let key = SettingKeys.key(path)
    binding = StorageLocation(key.name, key.defaultValue, key.form, store).binding
  }

  /// A property of a settings object, declared there with `@AppStorage`.
  public init<Settings: AnyObject>(_ path: ReferenceWritableKeyPath<Settings, Value>, in settings: Settings) {
    binding = Binding(get: { settings[keyPath: path] }, set: { settings[keyPath: path] = $0 })
  }

  /// A property of the program's single settings object.
  public init<Settings: SharedSettings>(
    _ path: ReferenceWritableKeyPath<Settings, Value>, defaults settings: Settings = .shared
  ) {
    self.init(path, in: settings)
  }

  /// The value of the setting, or the key's default if it has none.
  public var wrappedValue: Value {
    get { binding.wrappedValue }
    nonmutating set { binding.wrappedValue = newValue }
  }

  /// A binding to the setting.
  public var projectedValue: Binding<Value> { binding }
}

/// A settings class of which a program has a single object.
public protocol SharedSettings: AnyObject {
  /// The object that `@Default` uses if none is passed.
  static var shared: Self { get }
}
