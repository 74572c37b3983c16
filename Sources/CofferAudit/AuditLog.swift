internal import AppContainers
package import CofferFiles
internal import Synchronization

/// One ring of the log of decisions, to which several processes and threads may write.
///
/// An entry costs a lock, a write of the entry and one of `head`, and no sync, unless the operation requires one. If logging
/// fails, the operation must not be performed.
package final class AuditLog: Sendable {
  private let files: AuditDirectory
  private let state: Mutex<AuditWriter>

  /// Opens the log, or creates it.
  /// - Parameter state: The directory for the state of this machine.
  /// - Throws: `FileError`.
  package convenience init(
    in state: String, _ ring: AuditRing = .decisions, limits: AuditLimits? = nil
  ) throws(FileError) {
    try self.init(AuditDirectory(in: state, ring), limits ?? ring.limits)
  }

  init(_ files: AuditDirectory, _ limits: AuditLimits) throws(FileError) {
    self.files = files
    var writer = AuditWriter(head: try files.head(), limits: limits)
    try writer.begin(files)
    state = Mutex(writer)
  }

  /// - Returns: The end of the chain, including the entry.
  /// - Throws: `FileError`: `tooLarge` if a text is longer than `AuditEntry.maximumFieldByteCount` bytes; `busy`, `full`,
  ///   `readOnly`, `accessDenied`, `descriptorsExhausted`, `io`. `VaultError` if the cryptography is not available.
  @discardableResult
  package func append(_ entry: AuditEntry, isSynced: Bool) throws -> AuditChain {
    try entry.checkLengths()
    return try state.withLock { try $0.append(entry, isSynced: isSynced, in: files) }
  }
}

extension AuditEntry {
  fileprivate func checkLengths() throws(FileError) {
    for text in [operation, caller.executable, caller.application, application, group, item, reason] {
      guard text.utf8.count <= Self.maximumFieldByteCount else {
        throw FileError(.tooLarge, "a field of the audit log: more than \(Self.maximumFieldByteCount) bytes")
      }
    }
  }
}

/// The files that a process keeps open for writing. The end of the log is always read from `head`, because other processes write
/// too.
struct AuditWriter: ~Copyable {
  private var head: OpenFile
  private var segment: (number: UInt64, file: OpenFile)?
  private let limits: AuditLimits
  /// The last `head` that this process wrote, also as bytes. A log that ends before it was truncated or replaced.
  private var last: AuditHead?
  private var lastBytes: [UInt8] = []

  init(head: OpenFile, limits: AuditLimits) {
    self.head = head
    self.limits = limits
  }

  /// A log without entries has a `head` too, so that a log whose files were all deleted is not taken for a new one.
  mutating func begin(_ files: AuditDirectory) throws(FileError) {
    guard try head.byteCount == 0 else { return }
    try lock(files)
    defer { AuditLock.release(head) }
    guard try head.byteCount == 0, try files.segments().isEmpty else { return }
    try head.write(AuditHead(chain: .start, segment: 1, byteCount: 0, synced: 0).bytes, at: 0)
  }

  mutating func append(_ entry: AuditEntry, isSynced: Bool, in files: AuditDirectory) throws -> AuditChain {
    try lock(files)
    defer { AuditLock.release(head) }
    var end = try end(files)
    let batch = try AuditBatch(end, at: entry.milliseconds, entry)
    guard end.byteCount > 0, end.byteCount + UInt64(batch.bytes.count) > UInt64(limits.segmentByteCount) else {
      try write(&end, batch, isSynced: isSynced, files)
      return end.chain
    }
    // Notes about the end of a file are written to that file.
    if !end.prefix.isEmpty || !end.notes.isEmpty {
      try write(&end, AuditBatch(end, at: entry.milliseconds), isSynced: true, files)
    }
    end = try begin(after: end, in: files)
    let dropped = try dropped(in: files)
    if let dropped { end.notes.append(.dropped(dropped.chain)) }
    try write(&end, AuditBatch(end, at: entry.milliseconds, entry), isSynced: true, files)
    for segment in dropped?.segments ?? [] { try files.remove(segment) }
    return end.chain
  }

  private mutating func lock(_ files: AuditDirectory) throws(FileError) {
    while true {
      try AuditLock.take(head)
      if try head.namedByteCount() != nil { return }
      AuditLock.release(head)
      head = try files.head()
      segment = nil
    }
  }

  private mutating func write(_ end: inout AuditEnd, _ batch: AuditBatch, isSynced: Bool, _ files: AuditDirectory) throws {
    let file = try open(end.segment, files)
    try file.append(batch.bytes, after: Int(end.byteCount))
    end.byteCount += UInt64(batch.bytes.count)
    end.chain = batch.chain
    end.prefix = []
    end.notes = []
    if isSynced {
      try file.synchronizeData()
      end.synced = end.chain.number
    }
    try save(end)
  }

  private mutating func save(_ end: AuditEnd) throws(FileError) {
    let kept = AuditHead(chain: end.chain, segment: end.segment, byteCount: end.byteCount, synced: end.synced)
    lastBytes = kept.bytes
    try head.write(lastBytes, at: 0)
    last = kept
  }

  private mutating func open(_ number: UInt64, _ files: AuditDirectory) throws(FileError) -> OpenFile {
    if let segment, segment.number == number, try segment.file.namedByteCount() != nil { return segment.file }
    let isNew = try files.segments().contains(number) == false
    let file = try files.segment(number)
    if isNew { try files.directory.synchronize() }
    segment = (number, file)
    return file
  }

  /// Begins a new file. `head` names it before it has entries, so that no process continues the previous one after a crash.
  private mutating func begin(after end: AuditEnd, in files: AuditDirectory) throws -> AuditEnd {
    var next = AuditEnd(chain: end.chain, segment: end.chain.number + 1, byteCount: 0, synced: end.synced)
    let file = try open(next.segment, files)
    next.byteCount = UInt64(try file.namedByteCount() ?? 0)
    try save(next)
    return next
  }

  /// The files beyond the limit, and the chain up to their end.
  private func dropped(in files: AuditDirectory) throws -> (segments: [UInt64], chain: AuditChain)? {
    let segments = try files.segments()
    let count = segments.count - limits.segmentCount
    guard count > 0, let last = try AuditTail(files.contents(segments[count - 1])).last else { return nil }
    return (Array(segments[..<count]), AuditChain(number: last.number, digest: last.digest))
  }

  // MARK: The end of the log

  private mutating func end(_ files: AuditDirectory) throws -> AuditEnd {
    let bytes = try head.read(at: 0, count: AuditHead.byteCount)
    let kept = bytes == lastBytes ? last : AuditHead(bytes)
    // The files were deleted, or replaced by older ones, while this process had them open.
    if let last, (kept?.chain.number ?? 0) < last.chain.number {
      return try AuditEnd(recovering: last, isNew: false, isHeadMissing: true, in: files)
    }
    if let kept, try open(kept.segment, files).namedByteCount() == Int(kept.byteCount) {
      return AuditEnd(chain: kept.chain, segment: kept.segment, byteCount: kept.byteCount, synced: kept.synced)
    }
    return try AuditEnd(recovering: kept, isNew: bytes.isEmpty, in: files)
  }
}
