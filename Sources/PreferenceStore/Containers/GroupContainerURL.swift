public import Foundation
internal import Preferences

extension FileManager {
  /// The directory that the apps of an application group share. It is there, and the app may write to it.
  ///
  /// `group.com.example.x` is the group of the app whose name ends in it.
  ///
  /// Nil where several do, where the program was not started by `coffer app run`, or the manifest of its app does not name the group; the log says so.
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
    let places = ProcessStore.lists.places
    guard let path = places.groupContainer(groupIdentifier) else {
      if places.isAmbiguousGroup(groupIdentifier) {
        Diagnostics.ambiguousGroup(groupIdentifier)
      } else {
        Diagnostics.noGroupContainer(groupIdentifier)
      }
      return nil
    }
    return URL(filePath: path, directoryHint: .isDirectory)
  }
}
