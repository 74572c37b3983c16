/// Reads and writes a value that somebody else keeps: what `$` in front of a setting gives, for a control that shows and changes it.
///
/// Its closures run where it is used.
@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
  private let get: () -> Value
  private let set: (Value) -> Void
  /// Where the value is a setting.
  let location: StorageLocation<Value>?

  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
    self.init(get: get, set: set, location: nil)
  }

  init(get: @escaping () -> Value, set: @escaping (Value) -> Void, location: StorageLocation<Value>?) {
    self.get = get
    self.set = set
    self.location = location
  }

  /// One that nobody changes.
  public static func constant(_ value: Value) -> Binding { Binding(get: { value }, set: { _ in }) }

  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }

  public var projectedValue: Binding { self }

  public init(projectedValue: Binding) { self = projectedValue }

  /// A part of the value. Writing it writes the whole.
  public subscript<Part>(dynamicMember part: WritableKeyPath<Value, Part>) -> Binding<Part> {
    Binding<Part>(
      get: { wrappedValue[keyPath: part] }, set: { wrappedValue[keyPath: part] = $0 })
  }
}

/// A property wrapper whose value comes from somewhere else. For the sake of code that is written for SwiftUI, where it makes views look
/// again.
public protocol DynamicProperty {
  mutating func update()
}

extension DynamicProperty {
  public mutating func update() {}
}
