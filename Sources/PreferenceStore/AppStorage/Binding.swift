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

  /// A binding that reads and writes by closures.
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

  /// The value that the binding leads to.
  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }

  /// The binding itself, so that `$binding` can be passed on.
  public var projectedValue: Binding { self }

  /// A binding from another one, for closures with a `$` parameter.
  public init(projectedValue: Binding) { self = projectedValue }

  /// A part of the value. Writing it writes the whole value.
  public subscript<Part>(dynamicMember part: WritableKeyPath<Value, Part>) -> Binding<Part> {
    Binding<Part>(
      get: { wrappedValue[keyPath: part] }, set: { wrappedValue[keyPath: part] = $0 })
  }
}

/// A property wrapper whose value is stored elsewhere. Exists for source compatibility with SwiftUI, where it makes views update.
public protocol DynamicProperty {
  /// Called by SwiftUI before it draws a view. Nothing calls it here.
  mutating func update()
}

extension DynamicProperty {
  /// Does nothing: a wrapper reads its value when it is used.
  public mutating func update() {}
}
