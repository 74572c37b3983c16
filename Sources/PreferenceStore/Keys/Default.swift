/// A setting that is declared elsewhere, by its key path: in `SettingKeys`, or in a settings object of the program.
///
/// ```swift
/// @Default(\.volume) var volume
/// @Default(\AppSettings.name, in: settings) var name
/// ```
@propertyWrapper
public struct Default<Value>: DynamicProperty {
  private let binding: Binding<Value>

  /// - Parameter store: Nil for the default one, as with `@AppStorage`.
  public init(_ path: KeyPath<SettingKeys, Key<Value>>, store: UserDefaults? = nil) where Value: Sendable {
    let key = SettingKeys.key(path)
    binding = StorageLocation(key.name, key.defaultValue, key.form, store).binding
  }

  /// A property of an object, which has an `@AppStorage` for it.
  public init<Settings: AnyObject>(_ path: ReferenceWritableKeyPath<Settings, Value>, in settings: Settings) {
    binding = Binding(get: { settings[keyPath: path] }, set: { settings[keyPath: path] = $0 })
  }

  /// A property of the one settings object that a program has.
  public init<Settings: SharedSettings>(
    _ path: ReferenceWritableKeyPath<Settings, Value>, defaults settings: Settings = .shared
  ) {
    self.init(path, in: settings)
  }

  public var wrappedValue: Value {
    get { binding.wrappedValue }
    nonmutating set { binding.wrappedValue = newValue }
  }

  public var projectedValue: Binding<Value> { binding }
}

/// A class of settings of which a program has one object.
public protocol SharedSettings: AnyObject {
  static var shared: Self { get }
}
