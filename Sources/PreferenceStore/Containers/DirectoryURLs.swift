internal import CofferPreferences
public import Foundation

/// The directories of the user, or of the app's container if the program runs in one. Apple's Foundation has these names. Linux
/// Foundation has only `homeDirectory` and `temporaryDirectory`, which `coffer app run` redirects into the container.
/// `FileManager.urls(for:in:)` gives the same directories, except the library, for which it has none on Linux.
///
/// These properties create no directories. Thread-safe.
extension URL {
  /// `Documents`.
  public static var documentsDirectory: URL {
    inContainer("Documents") ?? FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first ?? homeDirectory
  }

  /// `Library`. Outside of a container, the data directory of the XDG Base Directory specification.
  public static var libraryDirectory: URL { inContainer("Library") ?? applicationSupportDirectory }

  /// `Library/Caches`: may be emptied when the app is not running.
  public static var cachesDirectory: URL {
    inContainer("Library/Caches") ?? FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first ?? homeDirectory
  }

  /// `Library/Application Support`: backed up, and not shown to the user.
  public static var applicationSupportDirectory: URL {
    inContainer("Library/Application Support")
      ?? FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first ?? homeDirectory
  }

  private static func inContainer(_ path: String) -> URL? {
    guard let container = ProcessStore.lists.places.container else { return nil }
    return URL(filePath: container, directoryHint: .isDirectory).appending(path: path, directoryHint: .isDirectory)
  }
}
