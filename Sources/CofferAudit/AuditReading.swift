internal import AppContainers
package import CofferFiles
internal import VaultCore

/// One ring of the log at one moment, which can be read while other processes write.
package struct AuditReading {
  /// A file with entries, up to its length at that moment.
  package struct Part {
    /// The number of its first entry.
    package let first: UInt64
    package let byteCount: Int
    /// Reads a range of its bytes.
    package let contents: (Range<Int>) throws -> [UInt8]

    /// - Throws: `FileError`: `tooLarge` if it is larger than any file that the log writes.
    package init(
      first: UInt64, byteCount: Int, path: String, contents: @escaping (Range<Int>) throws -> [UInt8]
    ) throws(FileError) {
      guard (0...AuditLimits.maximumFileByteCount).contains(byteCount) else {
        throw FileError(.tooLarge, "\(path): \(byteCount) bytes")
      }
      (self.first, self.byteCount, self.contents) = (first, byteCount, contents)
    }
  }

  package let parts: [Part]
  /// The content of the file `head`.
  package let headBytes: [UInt8]
  let head: AuditHead?
  /// Whether `head` is missing or unreadable.
  let hasLostHead: Bool

  /// Returns nil if the ring has no directory.
  /// - Throws: `FileError`: `busy`; `tooLarge` if a file is larger than any that the log writes; errors of the system.
  package init?(of state: String, _ ring: AuditRing = .decisions) throws(FileError) {
    guard let files = try AuditDirectory(existingIn: state, ring) else { return nil }
    // Without `head` there is no file to lock, and the log is damaged in any case.
    let head = try files.existingHead()
    if let head { try AuditLock.take(head, isShared: true) }
    defer { if let head { AuditLock.release(head) } }
    var parts: [Part] = []
    for segment in try files.segments() {
      guard let file = try files.existing(segment) else { continue }
      parts.append(
        try Part(first: segment, byteCount: file.byteCount, path: file.path) { range in
          try file.read(at: range.lowerBound, count: range.count)
        })
    }
    self.init(headBytes: try head?.read(at: 0, count: AuditHead.byteCount) ?? [], parts)
  }

  /// A reading from another source than a directory.
  /// - Parameter parts: The oldest first.
  package init(headBytes: [UInt8], _ parts: [Part]) {
    (self.headBytes, self.parts) = (headBytes, parts)
    head = AuditHead(headBytes)
    // Each writer begins by writing `head`, so a ring without one was emptied, or its first writer was killed at once.
    hasLostHead = self.head == nil
  }

  /// - Parameter number: Files that have only older entries are skipped.
  func lines(from number: UInt64 = 0) -> AuditLines {
    let first = parts.lastIndex { $0.first <= number } ?? parts.startIndex
    return AuditLines(parts[first...])
  }

  func forEachLine(_ body: (AuditLines.Line) throws -> Void) throws {
    var lines = lines()
    while let line = try lines.next() { try body(line) }
  }

  /// Every entry, the oldest first, even if the log is damaged: see `AuditVerification`.
  package func forEachEntry(_ body: (LoggedEntry) throws -> Void) throws {
    var lines = lines()
    while let logged = try lines.nextEntry() { try body(logged) }
  }
}

/// The lines of a ring. One file is in memory at a time.
struct AuditLines {
  enum Line {
    case entry(LoggedEntry, content: [UInt8])
    /// A line that is not an entry.
    case other([UInt8])
  }

  private var parts: ArraySlice<AuditReading.Part>
  private var rest: ArraySlice<UInt8> = []

  fileprivate init(_ parts: ArraySlice<AuditReading.Part>) { self.parts = parts }

  mutating func next() throws -> Line? {
    while rest.isEmpty {
      guard let part = parts.popFirst() else { return nil }
      rest = try part.contents(0..<part.byteCount)[...]
    }
    let end = rest.firstIndex(of: AuditLine.end) ?? rest.endIndex
    let line = rest[..<end]
    rest = rest[end...].dropFirst()
    guard let read = AuditLine.read(line) else { return .other(Array(line)) }
    return .entry(read.logged, content: Array(read.content))
  }

  mutating func nextEntry() throws -> LoggedEntry? {
    while let line = try next() { if case .entry(let logged, _) = line { return logged } }
    return nil
  }
}
