internal import AppContainers
import CofferFiles
internal import Glibc

/// The limits of the size of a log.
package struct AuditLimits: Sendable {
  /// The maximum size of a file, in bytes. An entry that would exceed it starts a new file.
  package var segmentByteCount = Self.maximumSegmentByteCount
  /// The maximum number of files. Beyond it, the oldest is deleted.
  package var segmentCount = 16

  package static let maximumSegmentByteCount = 4 << 20
  /// A note about the end of a file is appended to it even beyond the limit.
  static let maximumFileByteCount = maximumSegmentByteCount + AuditLine.maximumByteCount

  package init() {}
}

/// The files of one ring of the log: `head`, and files with entries, named by the number of their first entry.
struct AuditDirectory: Sendable {
  static let name = "audit"
  static let countsPrefix = "counts."
  private static let suffix = ".log"
  private static let digits = 20

  let directory: OpenDirectory

  /// Opens the directory, or creates it.
  /// - Parameter state: The directory for the state of this machine.
  init(in state: String, _ ring: AuditRing) throws(FileError) {
    let path = Path.join(state, Self.name)
    guard let parent = try OpenDirectory.root(path, isMade: true) else { throw FileError(.missing, path) }
    directory = try parent.makeDirectory(FileName(ring.rawValue))
  }

  /// nil if the ring has no directory.
  init?(existingIn state: String, _ ring: AuditRing) throws(FileError) {
    guard let directory = try Self.existing(in: state)?.directory(FileName(ring.rawValue)) else { return nil }
    self.directory = directory
  }

  /// Whether any ring has a directory.
  static func exists(in state: String) throws(FileError) -> Bool {
    try existing(in: state) != nil
  }

  /// Opens the directory for reading. Root may also read the log of an agent that runs as another user.
  private static func existing(in state: String) throws(FileError) -> OpenDirectory? {
    let path = Path.join(state, name)
    guard geteuid() == 0 else { return try OpenDirectory.root(path, isMade: false) }
    do throws(FileError) { return try OpenDirectory.foreign(path) } catch {
      guard error.code == .missing else { throw error }
      return nil
    }
  }

  /// Opens `head`, or creates it.
  func head() throws(FileError) -> OpenFile { try directory.fileToChange(FileName("head")) }

  /// Opens `head` for reading. nil if it does not exist.
  func existingHead() throws(FileError) -> OpenFile? { try directory.file(FileName("head")) }

  /// The numbers of the files in ascending order, so the oldest comes first.
  func segments() throws(FileError) -> [UInt64] {
    try directory.names().compactMap { name in
      let text = "\(name)"
      guard text.utf8.count == Self.digits + Self.suffix.utf8.count, text.hasSuffix(Self.suffix) else { return nil }
      return UInt64(text.dropLast(Self.suffix.utf8.count))
    }.sorted()
  }

  static func fileName(_ segment: UInt64) throws(FileError) -> FileName {
    let number = "\(segment)"
    return try FileName(String(repeating: "0", count: digits - number.utf8.count) + number + suffix)
  }

  /// Opens a file with entries for appending, or creates it.
  func segment(_ number: UInt64) throws(FileError) -> OpenFile {
    try directory.fileToChange(Self.fileName(number), isAppending: true)
  }

  /// Opens a file with entries for reading. nil if it does not exist.
  func existing(_ segment: UInt64) throws(FileError) -> OpenFile? { try directory.file(Self.fileName(segment)) }

  /// The content of a file; empty if it does not exist.
  /// - Throws: `tooLarge` if the file is larger than any that the log writes.
  func contents(_ segment: UInt64) throws(FileError) -> [UInt8] {
    try directory.contents(Self.fileName(segment), limit: AuditLimits.maximumFileByteCount) ?? []
  }

  /// The names of the files of `RepeatCounts`.
  func countNames() throws(FileError) -> [FileName] {
    try directory.names().filter { "\($0)".hasPrefix(Self.countsPrefix) }
  }

  func remove(_ segment: UInt64) throws(FileError) { try directory.remove(Self.fileName(segment)) }
}
