public import Foundation

/// References to files that outlive a move, in the form that Apple's systems have: data, to be kept as a setting.
///
/// What is found, and what not: docs/where-data-belongs.md.
extension URL {
  /// Options that Apple's systems have and that mean the same here: nothing. Those for security scopes are not among them: there is no
  /// right that a bookmark could carry.
  public struct BookmarkCreationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Without the values of resources, of which there are none in any case.
    public static let minimalBookmark = Self(rawValue: 1 << 9)
    public static let suitableForBookmarkFile = Self(rawValue: 1 << 10)
  }

  /// Nobody is asked and nothing is mounted, whatever the options say.
  public struct BookmarkResolutionOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let withoutUI = Self(rawValue: 1 << 8)
    public static let withoutMounting = Self(rawValue: 1 << 9)
  }

  /// A reference to the file or directory, which must be there.
  /// - Parameters:
  ///   - keys: Not kept: a bookmark holds no values of resources.
  ///   - url: A directory. Where the file is below it, it is looked for there first, so that both may move together.
  /// - Throws: `CocoaError`: `fileNoSuchFile`, `fileReadUnsupportedScheme` for what is no file, `fileReadNoPermission`, `fileReadUnknown`.
  public func bookmarkData(
    options: BookmarkCreationOptions = [], includingResourceValuesForKeys keys: Set<URLResourceKey>? = nil,
    relativeTo url: URL? = nil
  ) throws -> Data {
    let path = try Bookmark.path(of: self)
    let base = try url.map { try Bookmark.path(of: $0) }
    return try Bookmark(path: path, relativeTo: base, about: self).data
  }

  /// Finds the file again: at its path, or, where there is none any more, by what it is. Another file that has taken its path, as after
  /// a program has saved it, is the file that is meant.
  /// - Parameters:
  ///   - url: The directory that was named when the bookmark was made, wherever it is now.
  ///   - bookmarkDataIsStale: Becomes whether a new bookmark should be made: the file has another path, or is another file.
  /// - Throws: `CocoaError`: `fileReadCorruptFile` where the data is no bookmark; `fileNoSuchFile` where the file was not found.
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
