#if Combine
public import OpenCombine
public import PreferenceStore

/// An object that is owned elsewhere, with bindings to its properties: `$settings.name`.
@propertyWrapper
public struct ObservedObject<Object: OpenCombine.ObservableObject>: DynamicProperty {
  public var wrappedValue: Object

  public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
  public init(initialValue: Object) { self.init(wrappedValue: initialValue) }

  public var projectedValue: Wrapper { Wrapper(object: wrappedValue) }

  @dynamicMemberLookup
  public struct Wrapper {
    fileprivate let object: Object

    public subscript<Value>(dynamicMember path: ReferenceWritableKeyPath<Object, Value>) -> Binding<Value> {
      Binding(get: { object[keyPath: path] }, set: { object[keyPath: path] = $0 })
    }
  }
}
#endif
