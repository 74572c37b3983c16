internal import Foundation

// Protocols that unwrap an `Any` by conformance; a cast would bridge the value to an Objective-C class.

/// An Optional, or an `AnyHashable`.
protocol Wrapping {
  /// nil if the Optional is nil.
  var wrapped: Any? { get }
}

extension Optional: Wrapping {
  var wrapped: Any? { self }
}

extension AnyHashable: Wrapping {
  var wrapped: Any? { base }
}

protocol SwiftArray {
  var elements: [Any] { get }
}

extension Array: SwiftArray {
  var elements: [Any] { map { $0 } }
}

protocol SwiftDictionary {
  var pairs: [(key: Any, value: Any)] { get }
}

extension Dictionary: SwiftDictionary {
  var pairs: [(key: Any, value: Any)] { map { ($0.key, $0.value) } }
}

/// The elements of Foundation's containers, unbridged.
///
/// Taking an element out of an `NSArray` bridges the element and everything in it, recursively: a container that contains itself
/// overflows the stack. The mirror of a Foundation container has the objects themselves.
enum FoundationContainer {
  static func elements(of value: Any) -> [Any] {
    guard let array = value as? NSArray else { return [] }
    guard type(of: array) == NSArray.self || type(of: array) == NSMutableArray.self else { return Array(array) }
    return Mirror(reflecting: array).children.map(\.value)
  }

  static func pairs(of value: Any) -> [(key: Any, value: Any)] {
    guard let dictionary = value as? NSDictionary else { return [] }
    guard type(of: dictionary) == NSDictionary.self || type(of: dictionary) == NSMutableDictionary.self else {
      return dictionary.map { ($0.key, $0.value) }
    }
    return Mirror(reflecting: dictionary).children.compactMap { child in
      (child.value as? (key: NSObject, value: AnyObject)).map { ($0.key, $0.value) }
    }
  }

  /// The content of the box in which Foundation's containers keep a Swift value that has no class. nil if `value` is not such a
  /// box.
  static func content(ofBox value: Any) -> Any? {
    // Check the type first, because the cast boxes any other value.
    guard type(of: value) is AnyClass, let object = value as? NSObject, let content = NSArray(objects: object).firstObject
    else { return nil }
    return type(of: content) is AnyClass ? nil : content
  }
}
