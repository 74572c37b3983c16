public import Foundation
internal import Preferences

/// The directories of the user, or those of the container where the program is one of an app. Apple's Foundation has these names; that of
/// Linux has `homeDirectory` and `temporaryDirectory`, which `coffer app run` leads to the container, and not these. What
/// `FileManager.urls(for:in:)` gives is the same, but for the library, of which it knows none on Linux.
///
/// Nothing is made by asking. Thread-safe.
extension URL {
  /// `Documents`.
  public static var documentsDirectory: URL {
    inContainer("Documents") ?? FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first ?? homeDirectory
  }

  /// `Library`. Outside of a container there is none: the directory for data of XDG's specification.
  public static var libraryDirectory: URL { inContainer("Library") ?? applicationSupportDirectory }

  /// `Library/Caches`: may be emptied when the app is not running.
  public static var cachesDirectory: URL {
    inContainer("Library/Caches") ?? FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first ?? homeDirectory
  }

  /// `Library/Application Support`: backed up, and not for the user to see.
  public static var applicationSupportDirectory: URL {
    inContainer("Library/Application Support")
      ?? FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first ?? homeDirectory
  }

  private static func inContainer(_ path: String) -> URL? {
    guard let container = ProcessStore.lists.places.container else { return nil }
    return URL(filePath: container, directoryHint: .isDirectory).appending(path: path, directoryHint: .isDirectory)
  }
}
