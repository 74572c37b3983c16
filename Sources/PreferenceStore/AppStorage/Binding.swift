/// Reads and writes a value that is stored elsewhere: the projected value (`$`) of a setting, for a control that shows and
/// changes it.
///
/// Its closures run on the caller's thread.
@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
  private let get: () -> Value
  private let set: (Value) -> Void
  /// nil if the value is not a setting.
  let location: StorageLocation<Value>?

  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
    self.init(get: get, set: set, location: nil)
  }

  init(get: @escaping () -> Value, set: @escaping (Value) -> Void, location: StorageLocation<Value>?) {
    self.get = get
    self.set = set
    self.location = location
  }

  /// A binding whose value never changes.
  public static func constant(_ value: Value) -> Binding { Binding(get: { value }, set: { _ in }) }

  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }

  public var projectedValue: Binding { self }

  public init(projectedValue: Binding) { self = projectedValue }

  /// A part of the value. Writing it writes the whole value.
  public subscript<Part>(dynamicMember part: WritableKeyPath<Value, Part>) -> Binding<Part> {
    Binding<Part>(
      get: { wrappedValue[keyPath: part] }, set: { wrappedValue[keyPath: part] = $0 })
  }
}

/// A property wrapper whose value is stored elsewhere. Exists for source compatibility with SwiftUI, where it makes views update.
public protocol DynamicProperty {
  mutating func update()
}

extension DynamicProperty {
  public mutating func update() {}
}
