internal import CofferPreferences
public import Foundation

extension FileManager {
  /// The directory that the apps of an application group share. It exists, and the app may write to it.
  ///
  /// `group.com.example.x` stands for the group of the app whose name ends in it.
  ///
  /// Returns nil, and logs the reason, if the name matches several groups, if the program was not started by `coffer app run`, or
  /// if the app's manifest does not name the group.
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
