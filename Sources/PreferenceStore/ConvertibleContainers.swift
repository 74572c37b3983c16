internal import Foundation

// What an `Any` can be asked for without a cast that bridges it: the type has the protocol, or it has not.

/// An Optional, or a hashable value whose type is hidden.
protocol Wrapping {
  /// Nil where there is nothing.
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

/// The objects in Foundation's containers, as they are.
///
/// To take an element out of an `NSArray` bridges it, and what is in it, and so on: a container that is in itself ends the stack. The
/// mirror of one of Foundation's own has the objects themselves.
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

  /// A Swift value for which Foundation has no class is in a box inside of its containers. Nil where this is none.
  static func content(ofBox value: Any) -> Any? {
    // The type first: the cast makes a box of whatever is none.
    guard type(of: value) is AnyClass, let object = value as? NSObject, let content = NSArray(objects: object).firstObject
    else { return nil }
    return type(of: content) is AnyClass ? nil : content
  }
}
