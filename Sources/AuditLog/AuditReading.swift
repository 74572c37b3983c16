package import AppContainers
internal import VaultCore

/// The log as it was at one moment, to be read while others go on writing.
package struct AuditReading {
  private struct Part {
    let file: OpenFile
    let byteCount: Int
  }

  private let parts: [Part]
  let head: AuditHead?
  /// Whether there is a log at all, and there `head` is missing.
  let hasLostHead: Bool

  /// Nil where nothing was ever logged.
  /// - Throws: `ContainerError`: `busy`; `tooLarge` for a file that is longer than any genuine one; what the system says.
  package init?(of state: String) throws(ContainerError) {
    guard let files = try AuditDirectory(existingIn: state) else { return nil }
    // Without the file nobody can be asked to wait, and the log is broken anyway.
    let head = try files.existingHead()
    if let head { try AuditLock.take(head, isShared: true) }
    defer { if let head { AuditLock.release(head) } }
    var parts: [Part] = []
    for segment in try files.segments() {
      guard let file = try files.existing(segment) else { continue }
      let byteCount = try file.byteCount
      guard byteCount <= AuditLimits.maximumFileByteCount else {
        throw ContainerError(.tooLarge, "\(file.path): \(byteCount) bytes")
      }
      parts.append(Part(file: file, byteCount: byteCount))
    }
    self.parts = parts
    let bytes = try head?.read(AuditHead.byteCount, at: 0) ?? []
    self.head = AuditHead(bytes)
    hasLostHead = self.head == nil && (!bytes.isEmpty || parts.contains { $0.byteCount > 0 })
  }

  enum Line {
    case entry(LoggedEntry, content: [UInt8])
    /// What is no entry.
    case other([UInt8])
  }

  func forEachLine(_ body: (Line) throws -> Void) throws {
    for part in parts {
      var rest = try part.file.read(part.byteCount, at: 0)[...]
      while !rest.isEmpty {
        let end = rest.firstIndex(of: AuditLine.end) ?? rest.endIndex
        let line = rest[..<end]
        rest = rest[end...].dropFirst()
        if let read = AuditLine.read(line) {
          try body(.entry(read.logged, content: Array(read.content)))
        } else {
          try body(.other(Array(line)))
        }
      }
    }
  }

  /// Every entry, the oldest first, whatever is wrong beside it: see `AuditVerification`.
  package func forEachEntry(_ body: (LoggedEntry) throws -> Void) throws {
    try forEachLine { if case .entry(let logged, _) = $0 { try body(logged) } }
  }
}
