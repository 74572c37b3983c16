#if Combine
public import OpenCombine
public import PreferenceStore

/// An object that is owned elsewhere, with bindings to its properties: `$settings.name`.
@propertyWrapper
public struct ObservedObject<Object: OpenCombine.ObservableObject>: DynamicProperty {
  /// The object.
  public var wrappedValue: Object

  /// Wraps an object that its creator keeps.
  public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
  /// The same, by SwiftUI's older name.
  public init(initialValue: Object) { self.init(wrappedValue: initialValue) }

  /// Bindings to the properties of the object.
  public var projectedValue: Wrapper { Wrapper(object: wrappedValue) }

  /// Gives a binding for each property of the object.
  @dynamicMemberLookup
  public struct Wrapper {
    fileprivate let object: Object

    /// A binding to a property of the object.
    public subscript<Value>(dynamicMember path: ReferenceWritableKeyPath<Object, Value>) -> Binding<Value> {
      Binding(get: { object[keyPath: path] }, set: { object[keyPath: path] = $0 })
    }
  }
}
#endif
