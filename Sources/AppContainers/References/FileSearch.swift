internal import CLinux
internal import CofferFiles
internal import Glibc

/// Looks for a file that was moved: in the directory where it was and below, then in the one above and below that, and so on, up
/// to the user's home, or to the top of the file system for a file that is not in there.
///
/// Linux has no way from the number of a file to its name that is open to all. So this is a walk, which ends after so many
/// names, stays in one file system, follows no links and passes by what it may not read.
package struct FileSearch {
  package static let maximumNameCount = 100_000

  private let wanted: LastingIdentity
  private let limit: Int
  private var nameCount = 0
  /// The device of the first directory that still exists.
  private var device: dev_t?
  private var seen: Set<String> = []
  /// Whether it ended at the limit: there may be more.
  package private(set) var isIncomplete = false

  package init(for wanted: LastingIdentity, limit: Int = maximumNameCount) {
    self.wanted = wanted
    self.limit = limit
  }

  /// - Parameters:
  ///   - path: Where the file was.
  ///   - home: The search for a file that was below this directory does not leave it.
  /// - Returns: Its path; nil if it was not found.
  package mutating func find(from path: String, home: String) -> String? {
    var here = Path.parent(of: path)
    let isInHome = here == home || here.hasPrefix(Path.join(home, ""))
    while true {
      if let found = walk(here) { return found }
      if isIncomplete || here == "/" || isInHome && here == home { return nil }
      here = Path.parent(of: here)
    }
  }

  /// Level by level: what was moved is mostly near.
  private mutating func walk(_ top: String) -> String? {
    var level = [top]
    while !level.isEmpty {
      var next: [String] = []
      for directory in level where seen.insert(directory).inserted {
        if let found = look(in: directory, isTop: directory == top, &next) { return found }
        if isIncomplete { return nil }
      }
      level = next
    }
    return nil
  }

  /// - Parameter isTop: The path that was known may lead through links.
  private mutating func look(in directory: String, isTop: Bool, _ next: inout [String]) -> String? {
    let number = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | (isTop ? 0 : O_NOFOLLOW))
    guard number >= 0, let stream = unsafe fdopendir(number) else {
      if number >= 0 { close(number) }
      return nil
    }
    defer { unsafe closedir(stream) }
    var status = stat()
    guard unsafe fstat(number, &status) == 0, status.st_dev == device ?? status.st_dev else { return nil }
    device = status.st_dev
    while let entry = unsafe readdir(stream) {
      let isDirectory = unsafe Int32(entry.pointee.d_type) == DT_DIR
      let isCandidate = unsafe entry.pointee.d_ino == wanted.inode
      if !isDirectory, !isCandidate {
        guard count() else { return nil }
        continue
      }
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if bytes == [UInt8(ascii: ".")] || bytes == Array("..".utf8) { continue }
      guard count() else { return nil }
      // A name that is not text can be in no URL.
      guard let name = String(validating: bytes, as: UTF8.self) else { continue }
      let path = Path.join(directory, name)
      if isCandidate, case .file(wanted)? = try? LastingIdentity.at(path) { return path }
      if isDirectory { next.append(path) }
    }
    return nil
  }

  /// Counts one more name; false if there are too many.
  private mutating func count() -> Bool {
    nameCount += 1
    isIncomplete = nameCount > limit
    return !isIncomplete
  }
}
