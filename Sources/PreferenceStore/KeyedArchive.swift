internal import Foundation
internal import PropertyLists

/// The outside of a keyed archive, read without making objects: Foundation on Linux ends the program where a class is another one than
/// expected, and what lies in settings may come from anybody.
struct KeyedArchive {
  private let objects: [PropertyListValue]
  private let top: PropertyListDictionary

  /// Nil for what is no keyed archive.
  init?(_ bytes: [UInt8]) {
    guard case .dictionary(let archive)? = try? PropertyList.read(bytes).value,
      case .string("NSKeyedArchiver")? = archive["$archiver"], case .array(let objects)? = archive["$objects"],
      case .dictionary(let top)? = archive["$top"]
    else { return nil }
    self.objects = objects
    self.top = top
  }

  private func object(_ reference: PropertyListValue?) -> PropertyListValue? {
    guard case .uid(let number)? = reference, number < objects.count else { return nil }
    return objects[Int(number)]
  }

  private var root: PropertyListValue? { object(top[NSKeyedArchiveRootObjectKey]) }

  /// The name of an object's class and of those above it.
  private func classNames(of value: PropertyListValue?) -> [String] {
    guard case .dictionary(let fields)? = value, case .dictionary(let description)? = object(fields["$class"]) else { return [] }
    let name = description["$classname"].flatMap { $0.coercedToString }
    return [name].compactMap { $0 } + (description["$classes"]?.coercedToStringArray ?? [])
  }

  /// Of the object that was archived.
  var rootClassNames: [String] { classNames(of: root) }

  /// Nil where the object that was archived is no URL.
  var url: URL? { url(root, depth: 0) }

  private func url(_ value: PropertyListValue?, depth: Int) -> URL? {
    // A base that has a base that is itself.
    guard depth < 16, classNames(of: value).contains("NSURL"), case .dictionary(let fields)? = value,
      case .string(let text)? = object(fields["NS.relative"])
    else { return nil }
    return URL(string: text, relativeTo: url(object(fields["NS.base"]), depth: depth + 1))
  }
}
