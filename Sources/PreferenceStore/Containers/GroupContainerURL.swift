public import Foundation
internal import Preferences

extension FileManager {
  /// The directory that the apps of an application group share. It is there, and the app may write to it.
  ///
  /// Nil where the program was not started by `coffer app run`, or the manifest of its app does not name the group; the log says so.
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
    guard let path = ProcessStore.lists.places.groupContainer(groupIdentifier) else {
      Diagnostics.noGroupContainer(groupIdentifier)
      return nil
    }
    return URL(filePath: path, directoryHint: .isDirectory)
  }
}
