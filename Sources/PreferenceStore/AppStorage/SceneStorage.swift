internal import CofferPreferences

/// A value that belongs to a scene: SwiftUI's wrapper of this name. The whole program is one scene here, so all wrappers of a key
/// share one value, in memory, until the program ends. It is never written to a file.
///
/// Reading and observing are as with `AppStorage`; an `ObservableObject` does not fire for it, as in SwiftUI.
@propertyWrapper
public struct SceneStorage<Value>: DynamicProperty {
  private let location: StorageLocation<Value>

  private init(_ name: String, _ initialValue: Value, _ form: StoredForm<Value>) {
    location = StorageLocation(name, initialValue, form, SceneStore.shared)
  }

  /// The value of the key in memory, or the initial value.
  public var wrappedValue: Value {
    get { location.value }
    nonmutating set { location.value = newValue }
  }

  /// A binding to the value.
  public var projectedValue: Binding<Value> { location.binding }
}

extension SceneStorage: Sendable where Value: Sendable {}

extension SceneStorage {
  /// A value of an enum, or of another type with raw values.
  public init(wrappedValue: Value, _ key: String)
  where Value: RawRepresentable & SendableMetatype, Value.RawValue == Int {
    self.init(key, wrappedValue, .rawValue)
  }

  /// A value of an enum, or of another type with raw values.
  public init(wrappedValue: Value, _ key: String)
  where Value: RawRepresentable & SendableMetatype, Value.RawValue == String {
    self.init(key, wrappedValue, .rawValue)
  }

  /// A value of an enum, or nil if there is none.
  public init<Wrapped>(_ key: String)
  where Value == Wrapped?, Wrapped: RawRepresentable & SendableMetatype, Wrapped.RawValue == Int {
    self.init(key, nil, .optional(StoredForm<Wrapped>.rawValue))
  }

  /// A value of an enum, or nil if there is none.
  public init<Wrapped>(_ key: String)
  where Value == Wrapped?, Wrapped: RawRepresentable & SendableMetatype, Wrapped.RawValue == String {
    self.init(key, nil, .optional(StoredForm<Wrapped>.rawValue))
  }

  /// `Bool`, `Int`, `Double`, `String`, `URL`, `Data`, `Date`, …
  @_disfavoredOverload
  public init(wrappedValue: Value, _ key: String) where Value: Storable { self.init(key, wrappedValue, .storable) }

  /// A value, or nil if there is none. Setting nil removes it.
  @_disfavoredOverload
  public init<Wrapped: Storable>(_ key: String) where Value == Wrapped? {
    self.init(key, nil, .optional(StoredForm<Wrapped>.storable))
  }
}

/// A store in memory only.
private enum SceneStore {
  static let shared = UserDefaults(
    SearchLists(
      places: SearchPlaces(user: ""), volatileDomains: VolatileDomains(arguments: []),
      source: UnavailableDomainSource(PreferenceError(.noPlace, "values of a scene are in no file"))),
    ProcessStore.name("scene"), isForEver: true)
}
