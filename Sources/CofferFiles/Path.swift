internal import Glibc

/// Paths as text.
package enum Path {
  /// The path of a name in a directory.
  package static func join(_ directory: String, _ name: String) -> String {
    directory.utf8.last == UInt8(ascii: "/") ? directory + name : "\(directory)/\(name)"
  }

  /// The directory part: `.` for a name alone.
  package static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The last part.
  package static func name(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
  }

  /// The absolute path without links. Returns nil if there is no such file, or it cannot be reached.
  package static func resolved(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(validatingCString: real)
  }

  /// The same, also if there is no file at the end of the path, or of the links that it leads over.
  package static func target(of path: String) -> String? {
    var path = path
    for _ in 0..<40 {
      if let resolved = resolved(path) { return resolved }
      guard let link = link(at: path) else { return resolved(parent(of: path)).map { join($0, name(of: path)) } }
      path = link.utf8.first == UInt8(ascii: "/") ? link : join(parent(of: path), link)
    }
    return nil
  }

  private static func link(at path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe readlink(path, $0.baseAddress!, $0.count) }
    return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
  }
}
