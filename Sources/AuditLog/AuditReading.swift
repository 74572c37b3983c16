package import AppContainers
internal import VaultCore

/// One ring of the log as it was at one moment, to be read while others go on writing.
package struct AuditReading {
  /// A file with entries, as long as it was at that moment.
  package struct Part {
    /// The number of its first entry.
    package let first: UInt64
    package let byteCount: Int
    /// The bytes of a range within it.
    package let contents: (Range<Int>) throws -> [UInt8]

    /// - Throws: `ContainerError`: `tooLarge` if it is longer than any genuine one.
    package init(
      first: UInt64, byteCount: Int, path: String, contents: @escaping (Range<Int>) throws -> [UInt8]
    ) throws(ContainerError) {
      guard (0...AuditLimits.maximumFileByteCount).contains(byteCount) else {
        throw ContainerError(.tooLarge, "\(path): \(byteCount) bytes")
      }
      (self.first, self.byteCount, self.contents) = (first, byteCount, contents)
    }
  }

  package let parts: [Part]
  /// The file `head`.
  package let headBytes: [UInt8]
  let head: AuditHead?
  /// `head` is missing or can't be read.
  let hasLostHead: Bool

  /// Returns nil if the ring has no directory.
  /// - Throws: `ContainerError`: `busy`; `tooLarge` for a file that is longer than any genuine one; what the system says.
  package init?(of state: String, _ ring: AuditRing = .decisions) throws(ContainerError) {
    guard let files = try AuditDirectory(existingIn: state, ring) else { return nil }
    // Without the file nobody can be asked to wait, and the log is broken anyway.
    let head = try files.existingHead()
    if let head { try AuditLock.take(head, isShared: true) }
    defer { if let head { AuditLock.release(head) } }
    var parts: [Part] = []
    for segment in try files.segments() {
      guard let file = try files.existing(segment) else { continue }
      parts.append(
        try Part(first: segment, byteCount: file.byteCount, path: file.path) { range in
          try file.read(range.count, at: range.lowerBound)
        })
    }
    self.init(headBytes: try head?.read(AuditHead.byteCount, at: 0) ?? [], parts)
  }

  /// One that lies elsewhere.
  /// - Parameter parts: The oldest first.
  package init(headBytes: [UInt8], _ parts: [Part]) {
    (self.headBytes, self.parts) = (headBytes, parts)
    head = AuditHead(headBytes)
    // Each writer begins with one, so a ring without it was emptied, or its first writer was killed at once.
    hasLostHead = self.head == nil
  }

  /// - Parameter number: Files with older entries alone are left out.
  func lines(from number: UInt64 = 0) -> AuditLines {
    let first = parts.lastIndex { $0.first <= number } ?? parts.startIndex
    return AuditLines(parts[first...])
  }

  func forEachLine(_ body: (AuditLines.Line) throws -> Void) throws {
    var lines = lines()
    while let line = try lines.next() { try body(line) }
  }

  /// Every entry, the oldest first, whatever is wrong beside it: see `AuditVerification`.
  package func forEachEntry(_ body: (LoggedEntry) throws -> Void) throws {
    var lines = lines()
    while let logged = try lines.nextEntry() { try body(logged) }
  }
}

/// Line after line of a ring. One file is in memory at a time.
struct AuditLines {
  enum Line {
    case entry(LoggedEntry, content: [UInt8])
    /// What is no entry.
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
