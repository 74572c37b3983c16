import CofferPreferences
import CofferPropertyLists
import Foundation
import Testing

/// An empty directory for one test, removed at the end.
final class Fixture {
  let root: URL
  var directory: PreferenceDirectory { PreferenceDirectory(root.appending(path: "Preferences").path) }

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "coffer-preferences-\(UUID())")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  func file(_ name: String) -> URL { root.appending(path: "Preferences/\(name)") }

  /// Two domains with the same files behave as two processes.
  func domain(_ name: String = "com.example.app", _ change: (inout FileDomain.Options) -> Void = { _ in }) throws -> FileDomain {
    var options = FileDomain.Options()
    change(&options)
    return FileDomain(try DomainName(name), in: directory, options)
  }

  func plist(_ name: String = "com.example.app") throws -> [String: Any]? {
    guard let data = try? Data(contentsOf: file("\(name).plist")) else { return nil }
    return try unsafe PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
  }

  func write(_ values: [String: Any], to name: String = "com.example.app") throws {
    try FileManager.default.createDirectory(at: root.appending(path: "Preferences"), withIntermediateDirectories: true)
    let data = try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
    try data.write(to: file("\(name).plist"), options: .atomic)
  }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Preferences").path)) ?? []).sorted()
  }
}

extension PropertyListDictionary {
  var texts: [String: String] { Dictionary(uniqueKeysWithValues: unsorted.map { ($0.key, "\($0.value)") }) }
}
