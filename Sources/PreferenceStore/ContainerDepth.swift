internal import Foundation

/// How deep the arrays and dictionaries of Foundation are, before any of them is bridged.
///
/// Bridging an `NSArray`, and taking an element out of it, bridges what is in it, and so on, without a limit: a container that is in
/// itself ends the stack. Its mirror has the objects as they are.
struct ContainerDepth {
  /// Levels at and below each container that was seen to its end. So one that many others hold is looked at once.
  private var levels: [ObjectIdentifier: Int] = [:]

  /// Whether there are more than `limit` levels, which is also so where a container is in itself. Of a value that is no `NSArray` and
  /// no `NSDictionary`, whatever is in it, false.
  static func isAbove(_ limit: Int, _ value: Any) -> Bool {
    var depth = ContainerDepth()
    return depth.levels(of: value, within: limit) == nil
  }

  /// Nil where there are more than `limit`, which may be below 0.
  private mutating func levels(of value: Any, within limit: Int) -> Int? {
    // The type first: a cast would make an `NSArray` of a Swift array.
    let type = type(of: value)
    guard type is NSArray.Type || type is NSDictionary.Type else { return limit < 0 ? nil : 0 }
    guard limit > 0 else { return nil }
    let identifier = ObjectIdentifier(value as AnyObject)
    if let known = levels[identifier] { return known > limit ? nil : known }
    var deepest = 0
    for (_, child) in Mirror(reflecting: value).children {
      let objects: [Any]
      if let pair = child as? (key: NSObject, value: AnyObject) { objects = [pair.key, pair.value] } else { objects = [child] }
      for object in objects {
        guard let below = levels(of: object, within: limit - 1) else { return nil }
        deepest = max(deepest, below)
      }
    }
    levels[identifier] = deepest + 1
    return deepest + 1
  }
}
