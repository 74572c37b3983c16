internal import CofferPreferences
internal import CofferPropertyLists
internal import Foundation

/// URLs as settings: a file URL as its path, which people can read and write; any other URL as a keyed archive.
extension PropertyListValue {
  /// - Throws: `notAPropertyList` if the URL cannot be archived.
  init(url: URL, forKey key: String) throws(PreferenceError) {
    if url.isFileURL {
      self = .string(Self.abbreviated(url.absoluteURL.path))
      return
    }
    guard let data = try? NSKeyedArchiver.archivedData(withRootObject: url as NSURL, requiringSecureCoding: true) else {
      throw PreferenceError(.notAPropertyList, "Attempt to insert non-property list object \(url) for key \(key)")
    }
    self = .data(Array(data))
  }

  var fileOrArchivedURL: URL? {
    switch self {
    case .string(let path): URL(fileURLWithPath: NSString(string: path).expandingTildeInPath)
    case .data(let bytes): KeyedArchive(bytes)?.url
    default: nil
    }
  }

  private static func abbreviated(_ path: String) -> String {
    let home = NSHomeDirectory()
    guard home.utf8.count > 1 else { return path }
    if path == home { return "~" }
    return path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path
  }
}
