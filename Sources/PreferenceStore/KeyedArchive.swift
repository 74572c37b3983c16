internal import CofferPropertyLists
internal import Foundation

/// Reads the top of a keyed archive without decoding objects: Foundation on Linux ends the process if an object's class is not
/// the expected one, and settings can hold data from any source.
struct KeyedArchive {
  private let objects: [PropertyListValue]
  private let top: PropertyListDictionary

  /// nil if the data is not a keyed archive.
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

  /// The names of an object's class and superclasses.
  private func classNames(of value: PropertyListValue?) -> [String] {
    guard case .dictionary(let fields)? = value, case .dictionary(let description)? = object(fields["$class"]) else { return [] }
    let name = description["$classname"].flatMap { $0.coercedToString }
    return [name].compactMap { $0 } + (description["$classes"]?.coercedToStringArray ?? [])
  }

  /// The class names of the archived object.
  var rootClassNames: [String] { classNames(of: root) }

  /// nil if the archived object is not a URL.
  var url: URL? { url(root, depth: 0) }

  private func url(_ value: PropertyListValue?, depth: Int) -> URL? {
    // The depth is limited, because a base URL may refer to itself.
    guard depth < 16, classNames(of: value).contains("NSURL"), case .dictionary(let fields)? = value,
      case .string(let text)? = object(fields["NS.relative"])
    else { return nil }
    return URL(string: text, relativeTo: url(object(fields["NS.base"]), depth: depth + 1))
  }
}
