internal import AppContainers
import CofferFiles
internal import CofferPropertyLists
package import Foundation

/// The content of bookmark data: a property list with the file's path and its identity.
package struct Bookmark {
  private static let maximumByteCount = 65_536
  private static let maximumPathByteCount = 4096
  private static let kind = "coffer-bookmark-1"

  let path: String
  /// The path from the `relativeTo` directory down to the file; nil if the file is not below that directory.
  let relativePath: String?
  /// nil if the file system has no lasting file identities.
  let identity: LastingIdentity?

  static func path(of url: URL) throws -> String {
    guard url.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme, userInfo: [NSURLErrorKey: url]) }
    let path = url.standardizedFileURL.path(percentEncoded: false)
    let trimmed = path.utf8.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    guard isPath(trimmed) else { throw CocoaError(.fileReadInvalidFileName, userInfo: [NSURLErrorKey: url]) }
    return trimmed
  }

  private static func isPath(_ text: String) -> Bool {
    text.utf8.first == UInt8(ascii: "/") && text.utf8.count <= maximumPathByteCount && !text.utf8.contains(0)
  }

  init(path: String, relativeTo base: String?, about url: URL) throws {
    let found: LastingIdentity.Found
    do {
      found = try LastingIdentity.at(path)
    } catch {
      let code: CocoaError.Code = error.code == .accessDenied ? .fileReadNoPermission : .fileReadUnknown
      throw CocoaError(code, userInfo: [NSURLErrorKey: url, NSDebugDescriptionErrorKey: error.detail])
    }
    guard case .file(let identity) = found else { throw CocoaError(.fileNoSuchFile, userInfo: [NSURLErrorKey: url]) }
    self.path = path
    self.identity = identity
    let prefix = base.map { Path.join($0, "") }
    relativePath = prefix.flatMap { path.hasPrefix($0) ? String(path.dropFirst($0.count)) : nil }
  }

  // MARK: Data

  var data: Data {
    get throws {
      var members = PropertyListDictionary()
      members["Kind"] = .string(Self.kind)
      members["Path"] = .string(path)
      if let relativePath { members["Relative"] = .string(relativePath) }
      if let identity {
        members["Inode"] = .string("\(identity.inode)")
        members["BornSeconds"] = .integer(identity.bornSeconds)
        members["BornNanoseconds"] = .integer(Int64(identity.bornNanoseconds))
      }
      return Data(try PropertyList.write(.dictionary(members), .binary))
    }
  }

  /// - Throws: `CocoaError`: `fileReadCorruptFile`.
  package init(_ data: Data) throws {
    guard data.count <= Self.maximumByteCount, case .dictionary(let members)? = try? PropertyList.read(Array(data)).value,
      case .string(Self.kind)? = members["Kind"], case .string(let path)? = members["Path"],
      Self.isPath(path)
    else { throw CocoaError(.fileReadCorruptFile) }
    self.path = path
    switch members["Relative"] {
    case nil: relativePath = nil
    case .string(let text)? where (try? RelativePath(text)) != nil: relativePath = text
    default: throw CocoaError(.fileReadCorruptFile)
    }
    switch (members["Inode"], members["BornSeconds"], members["BornNanoseconds"]) {
    case (nil, nil, nil): identity = nil
    case (.string(let inode)?, .integer(let seconds)?, .integer(let nanoseconds)?):
      guard let inode = UInt64(inode), let nanoseconds = UInt32(exactly: nanoseconds), nanoseconds < 1_000_000_000 else {
        throw CocoaError(.fileReadCorruptFile)
      }
      identity = LastingIdentity(inode: inode, bornSeconds: seconds, bornNanoseconds: nanoseconds)
    default: throw CocoaError(.fileReadCorruptFile)
    }
  }

  // MARK: Finding it

  /// - Parameter limit: The number of directory entries searched if the file is not at its path.
  package func resolve(relativeTo base: String?, limit: Int? = nil) throws -> (path: String, isStale: Bool) {
    var places = [path]
    if let base, let relativePath { places.insert(Path.join(base, relativePath), at: 0) }
    for place in places {
      guard case .file(let found)? = try? LastingIdentity.at(place) else { continue }
      return (place, isStale: place != path || found != identity)
    }
    guard let identity else { throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: path]) }
    var search = FileSearch(for: identity, limit: limit ?? FileSearch.maximumNameCount)
    for place in places {
      if let found = search.find(from: place, home: NSHomeDirectory()) { return (found, isStale: true) }
    }
    let reason =
      search.isIncomplete ? "not among the first \(limit ?? FileSearch.maximumNameCount) names near where it was" : "not found"
    throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: path, NSDebugDescriptionErrorKey: reason])
  }
}
