#if Combine
internal import CofferPreferences
public import OpenCombine
public import PreferenceStore

/// An object that is created at its first use and then kept.
///
/// In SwiftUI it outlives the view value; here views are never re-created, so it lives as long as the copies of the wrapper.
@propertyWrapper
public struct StateObject<Object: OpenCombine.ObservableObject>: DynamicProperty {
  private let made: MadeObject<Object>

  /// An object that is made at the first use.
  public init(wrappedValue make: @autoclosure @escaping () -> Object) { made = MadeObject(make) }

  /// The object.
  public var wrappedValue: Object { made.object }

  /// Bindings to the properties of the object.
  public var projectedValue: ObservedObject<Object>.Wrapper { ObservedObject(wrappedValue: made.object).projectedValue }
}

/// Not thread-safe: used on one thread, as views are.
private final class MadeObject<Object> {
  private let make: () -> Object
  private(set) lazy var object = make()

  init(_ make: @escaping () -> Object) { self.make = make }
}
#endif
