public import Foundation

/// References to files that survive a move, with the interface of Apple's bookmarks: `Data` that a program keeps as a setting.
///
/// docs/where-data-belongs.md lists which moves are followed and which are not.
extension URL {
  /// The options of Apple's systems that Coffer accepts; they have no effect. Security-scope options are missing, because a
  /// bookmark carries no access right on Linux.
  public struct BookmarkCreationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Bookmarks hold no resource values in any case.
    public static let minimalBookmark = Self(rawValue: 1 << 9)
    /// No effect: accepted for code that is written for Apple's systems.
    public static let suitableForBookmarkFile = Self(rawValue: 1 << 10)
  }

  /// Resolving never shows a dialog and never mounts a file system, with or without these options.
  public struct BookmarkResolutionOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// No effect: resolving a bookmark asks no questions.
    public static let withoutUI = Self(rawValue: 1 << 8)
    /// No effect: resolving a bookmark mounts no volume.
    public static let withoutMounting = Self(rawValue: 1 << 9)
  }

  /// A reference to the file or directory, which must exist.
  /// - Parameters:
  ///   - keys: Ignored: a bookmark holds no resource values.
  ///   - url: A directory. If the file is below it, resolving looks there first, so that both may move together.
  /// - Throws: `CocoaError`: `fileNoSuchFile`; `fileReadUnsupportedScheme` if this is not a file URL; `fileReadNoPermission`;
  ///   `fileReadUnknown`.
  public func bookmarkData(
    options: BookmarkCreationOptions = [], includingResourceValuesForKeys keys: Set<URLResourceKey>? = nil,
    relativeTo url: URL? = nil
  ) throws -> Data {
    let path = try Bookmark.path(of: self)
    let base = try url.map { try Bookmark.path(of: $0) }
    return try Bookmark(path: path, relativeTo: base, about: self).data
  }

  /// Finds the file again: at its path, or if no file is there, by its identity. A different file at the path, as after a program
  /// saved by replacing it, counts as the same file.
  /// - Parameters:
  ///   - url: The present location of the directory that was named when the bookmark was made.
  ///   - bookmarkDataIsStale: Set to true if the program should make a new bookmark, because the path or the identity has
  /// changed.
  /// - Throws: `CocoaError`: `fileReadCorruptFile` if the data is not a bookmark; `fileNoSuchFile` if the file was not found.
  public init(
    resolvingBookmarkData data: Data, options: BookmarkResolutionOptions = [], relativeTo url: URL? = nil,
    bookmarkDataIsStale: inout Bool
  ) throws {
    let bookmark = try Bookmark(data)
    let base = try url.map { try Bookmark.path(of: $0) }
    let found = try bookmark.resolve(relativeTo: base)
    bookmarkDataIsStale = found.isStale
    self.init(fileURLWithPath: found.path)
  }
}
