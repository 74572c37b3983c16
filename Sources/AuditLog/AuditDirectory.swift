internal import AppContainers
internal import Glibc

/// How much room a log may take.
package struct AuditLimits: Sendable {
  /// A file is closed when the next entry would make it longer.
  package var segmentByteCount = Self.maximumSegmentByteCount
  /// Of more files than these, the oldest goes.
  package var segmentCount = 16

  package static let maximumSegmentByteCount = 4 << 20
  /// What is noted of the end of a file is added to it, however long it is.
  static let maximumFileByteCount = maximumSegmentByteCount + AuditLine.maximumByteCount

  package init() {}
}

/// The files of one ring of the log: `head`, and the entries in files that are named by the number of the first one in each.
struct AuditDirectory: Sendable {
  static let name = "audit"
  static let countsPrefix = "counts."
  private static let suffix = ".log"
  private static let digits = 20

  let directory: OpenDirectory

  /// Made where there is none.
  /// - Parameter state: The directory for what belongs to this machine.
  init(in state: String, _ ring: AuditRing) throws(ContainerError) {
    let path = UserDirectories.join(state, Self.name)
    guard let parent = try OpenDirectory.root(path, isMade: true) else { throw ContainerError(.missing, path) }
    directory = try parent.makeDirectory(FileName(ring.rawValue))
  }

  /// Nil if the ring has no directory.
  init?(existingIn state: String, _ ring: AuditRing) throws(ContainerError) {
    guard let directory = try Self.existing(in: state)?.directory(FileName(ring.rawValue)) else { return nil }
    self.directory = directory
  }

  /// Whether there is a directory for any ring.
  static func exists(in state: String) throws(ContainerError) -> Bool {
    try existing(in: state) != nil
  }

  /// For reading. The superuser reads that of an agent with a user of its own, too.
  private static func existing(in state: String) throws(ContainerError) -> OpenDirectory? {
    let path = UserDirectories.join(state, name)
    guard geteuid() == 0 else { return try OpenDirectory.root(path, isMade: false) }
    do throws(ContainerError) { return try OpenDirectory.foreign(path) } catch {
      guard error.code == .missing else { throw error }
      return nil
    }
  }

  /// Made where there is none.
  func head() throws(ContainerError) -> OpenFile { try directory.fileToChange(FileName("head")) }

  /// For reading. Nil where there is none.
  func existingHead() throws(ContainerError) -> OpenFile? { try directory.file(FileName("head")) }

  /// The numbers of the files, the oldest first.
  func segments() throws(ContainerError) -> [UInt64] {
    try directory.names().compactMap { name in
      let text = "\(name)"
      guard text.utf8.count == Self.digits + Self.suffix.utf8.count, text.hasSuffix(Self.suffix) else { return nil }
      return UInt64(text.dropLast(Self.suffix.utf8.count))
    }.sorted()
  }

  static func fileName(_ segment: UInt64) throws(ContainerError) -> FileName {
    let number = "\(segment)"
    return try FileName(String(repeating: "0", count: digits - number.utf8.count) + number + suffix)
  }

  /// Made where there is none.
  func segment(_ number: UInt64) throws(ContainerError) -> OpenFile {
    try directory.fileToChange(Self.fileName(number), isAppending: true)
  }

  /// For reading.
  func existing(_ segment: UInt64) throws(ContainerError) -> OpenFile? { try directory.file(Self.fileName(segment)) }

  /// Empty where there is none.
  /// - Throws: `tooLarge`: no genuine file is.
  func contents(_ segment: UInt64) throws(ContainerError) -> [UInt8] {
    try directory.contents(Self.fileName(segment), limit: AuditLimits.maximumFileByteCount) ?? []
  }

  /// The files of `RepeatCounts`.
  func countNames() throws(ContainerError) -> [FileName] {
    try directory.names().filter { "\($0)".hasPrefix(Self.countsPrefix) }
  }

  func remove(_ segment: UInt64) throws(ContainerError) { try directory.remove(Self.fileName(segment)) }
}
