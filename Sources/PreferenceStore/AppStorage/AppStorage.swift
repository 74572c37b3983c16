/// A property that is kept in the settings: SwiftUI's wrapper of this name, on every platform of Swift.
///
/// ```swift
/// @AppStorage("volume") var volume = 0.8
/// @AppStorage("name", store: .appGroup) var name: String?
/// ```
///
/// Reading returns what `UserDefaults` finds, in whichever domain. It returns the initial value if there is none, or one of
/// another type, which is left unchanged and reported in the log. The initial value is not registered: other readers of the key
/// do not see it. Setting a value stores it; setting nil removes it.
///
/// Reading inside `withObservationTracking` tracks this key alone. It fires at each change: by this property or another one, by
/// `UserDefaults`, by `register`, by another process. For an `ObservableObject`, see `PreferenceStoreCombine`.
@propertyWrapper
public struct AppStorage<Value>: DynamicProperty {
  let location: StorageLocation<Value>

  init(_ name: String, _ initialValue: Value, _ form: StoredForm<Value>, _ store: UserDefaults?) {
    location = StorageLocation(name, initialValue, form, store)
  }

  /// The value of the setting, or the initial value if it has none.
  public var wrappedValue: Value {
    get { location.value }
    nonmutating set { location.value = newValue }
  }

  /// A binding to the setting.
  public var projectedValue: Binding<Value> { location.binding }
}

extension AppStorage: SettingProperty {
  package var owner: (any SettingOwner)? { location.owner }
  package func setOwner(_ owner: any SettingOwner) { location.setOwner(owner) }
}

extension AppStorage: Sendable where Value: Sendable {}

extension StorageLocation {
  var binding: Binding<Value> {
    Binding(get: { self.value }, set: { self.value = $0 }, location: self)
  }
}
