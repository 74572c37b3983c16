internal import AppContainers

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

/// The files of the log: `head`, and the entries in files that are named by the number of the first one in each.
struct AuditDirectory: Sendable {
  static let name = "audit"
  private static let suffix = ".log"
  private static let digits = 20

  let directory: OpenDirectory

  /// Made where there is none.
  /// - Parameter state: The directory for what belongs to this machine.
  init(in state: String) throws(ContainerError) {
    let path = UserDirectories.join(state, Self.name)
    guard let directory = try OpenDirectory.root(path, isMade: true) else { throw ContainerError(.missing, path) }
    self.directory = directory
  }

  /// Nil where nothing was ever logged.
  init?(existingIn state: String) throws(ContainerError) {
    guard let directory = try OpenDirectory.root(UserDirectories.join(state, Self.name), isMade: false) else { return nil }
    self.directory = directory
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

  func remove(_ segment: UInt64) throws(ContainerError) { try directory.remove(Self.fileName(segment)) }
}
