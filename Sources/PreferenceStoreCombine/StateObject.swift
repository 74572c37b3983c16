public import OpenCombine
public import PreferenceStore
internal import Preferences

/// An object that the view which declares it makes, at the first use, and then keeps.
///
/// In SwiftUI it outlives the view value; here there are no views that are made again, so it lives as long as the copies of the wrapper.
@propertyWrapper
public struct StateObject<Object: OpenCombine.ObservableObject>: DynamicProperty {
  private let made: MadeObject<Object>

  public init(wrappedValue make: @autoclosure @escaping () -> Object) { made = MadeObject(make) }

  public var wrappedValue: Object { made.object }

  public var projectedValue: ObservedObject<Object>.Wrapper { ObservedObject(wrappedValue: made.object).projectedValue }
}

/// Belongs to the thread that uses the wrapper, as views do.
private final class MadeObject<Object> {
  private let make: () -> Object
  private(set) lazy var object = make()

  init(_ make: @escaping () -> Object) { self.make = make }
}
