internal import Glibc
internal import SecretMemory

/// The end of the log, and the notes that its next writer has to add first.
struct AuditEnd {
  var chain: AuditChain
  var segment: UInt64
  /// The size of the file `segment`, in bytes.
  var byteCount: UInt64
  var synced: UInt64
  /// The bytes that end an unfinished line.
  var prefix: [UInt8] = []
  var notes: [AuditNote] = []

  init(chain: AuditChain, segment: UInt64, byteCount: UInt64, synced: UInt64) {
    self.chain = chain
    self.segment = segment
    self.byteCount = byteCount
    self.synced = synced
  }

  /// Determines the end from the files, after a crash or a change by another program. Nothing is removed; each inconsistency
  /// becomes a note.
  /// - Parameters:
  ///   - head: nil if there is no readable `head`.
  ///   - isNew: Whether there is no `head` at all.
  ///   - isHeadMissing: Whether `head` is the one that this process has written, instead of the file's content.
  init(recovering head: AuditHead?, isNew: Bool, isHeadMissing: Bool = false, in files: AuditDirectory) throws {
    var segments = try files.segments()
    var tail = AuditTail([])
    var byteCount = 0
    // A crash may have left the last file empty.
    while let newest = segments.last {
      let bytes = try files.contents(newest)
      tail = AuditTail(bytes)
      byteCount = bytes.count
      if !bytes.isEmpty { break }
      segments.removeLast()
    }
    let last = tail.last.map { AuditChain(number: $0.number, digest: $0.digest) }
    let found = last ?? .start
    self.init(
      chain: found, segment: segments.last ?? found.number + 1, byteCount: UInt64(byteCount), synced: head?.synced ?? 0)
    if !tail.endsLine { prefix = [AuditLine.end] }
    if let unfinished = tail.unfinished {
      let digest = try AuditChain.digest(ofUnfinished: unfinished)
      notes.append(.unfinished(digest: digest, byteCount: unfinished.count))
    }
    guard let head else {
      if last != nil || !isNew { notes.append(.headMissing) }
      return
    }
    if isHeadMissing { notes.append(.headMissing) }
    if found.number < head.chain.number {
      notes.append(.missing(after: found.number))
      chain = head.chain
    } else if found.number == head.chain.number, found != head.chain {
      notes.append(.headDiffers)
    }
  }
}

/// The end of one file.
struct AuditTail {
  /// The last line that is an entry.
  private(set) var last: LoggedEntry?
  /// The bytes after it, without their last line end. nil if there are none.
  private(set) var unfinished: [UInt8]?
  /// Whether the file ends with a line end.
  let endsLine: Bool

  init(_ bytes: [UInt8]) {
    endsLine = bytes.isEmpty || bytes.last == AuditLine.end
    var rest = bytes[...]
    if !rest.isEmpty, endsLine { rest.removeLast() }
    let whole = rest
    while !rest.isEmpty {
      let start = rest.lastIndex(of: AuditLine.end).map { $0 + 1 } ?? rest.startIndex
      if let read = AuditLine.read(rest[start...]) {
        last = read.logged
        unfinished = rest.endIndex == whole.endIndex ? nil : Array(whole[(rest.endIndex + 1)...])
        return
      }
      guard start > rest.startIndex else { break }
      rest = rest[..<(start - 1)]
    }
    unfinished = bytes.isEmpty ? nil : Array(whole)
  }
}

/// Lines that are written in one call.
struct AuditBatch {
  private(set) var bytes: [UInt8]
  private(set) var chain: AuditChain
  private let milliseconds: Int64

  /// Begins with the notes of `end`.
  init(_ end: AuditEnd, at milliseconds: Int64) throws(VaultError) {
    bytes = end.prefix
    chain = end.chain
    self.milliseconds = milliseconds
    for note in end.notes { try add(note) }
  }

  init(_ end: AuditEnd, at milliseconds: Int64, _ entry: AuditEntry) throws(VaultError) {
    try self.init(end, at: milliseconds)
    try add(entry)
  }

  private mutating func add(_ entry: AuditEntry) throws(VaultError) {
    let (line, chain) = try self.chain.line(entry)
    bytes += line
    self.chain = chain
  }

  private mutating func add(_ note: AuditNote) throws(VaultError) {
    let caller = AuditEntry.Caller(user: geteuid(), process: getpid(), executable: "")
    try add(AuditEntry(at: milliseconds, .noted, AuditNote.operation, by: caller, because: note.reason))
  }
}
