internal import VaultCore

/// Whether the log is one chain, from its first entry to the last one that was written, and where it is broken.
///
/// After a break, verification continues with the next entry's own digest, so that each break is reported once.
/// docs/decisions/0019-audit-log.md lists what is proven and what is not.
package struct AuditVerification {
  package enum Problem: Equatable, Sendable {
    /// The entry, or the one before it, was changed.
    case changed(UInt64)
    case missing(ClosedRange<UInt64>)
    /// The entry is at the place of a later one.
    case outOfOrder(UInt64)
    /// Bytes after this entry that are neither an entry nor covered by a note.
    case unreadable(after: UInt64)
    /// The oldest entry that is left; the preceding ones were not deleted by the log itself.
    case beginsLate(UInt64)
    /// A writer found that written entries were missing.
    case wereMissing(notedIn: UInt64)
    /// A writer found `head` missing, or naming another end.
    case headWasWrong(notedIn: UInt64)
    case headIsWrong
    /// The chain stored outside of the log does not lead to this entry.
    case notContinued(UInt64)

    fileprivate var isBeginning: Bool { if case .beginsLate = self { true } else { false } }
  }

  package private(set) var count: UInt64 = 0
  package private(set) var problems: [Problem] = []
  /// The last entry.
  package private(set) var end: AuditChain?
  /// The number of incomplete entries after a crash or on a full disk, which do not break the chain.
  package private(set) var unfinishedCount = 0
  /// Whether only unsynchronised entries are missing at the end, as after a power failure.
  package private(set) var mayBePowerFailure = false
  /// The time of the oldest entry, in milliseconds since 1970. nil if there is none.
  package private(set) var since: Int64?
  /// Whether the chain stored outside of the log ends before the oldest entry that is left, so that its continuation cannot be
  /// checked.
  package private(set) var isKeptTooOld = false

  /// The result for a ring without a directory, if another ring has one.
  static var missing: AuditVerification {
    var verification = AuditVerification()
    verification.problems = [.headIsWrong]
    return verification
  }

  private init() {}

  /// - Parameter kept: An earlier end of the chain, which was stored outside of the log.
  package init(_ reading: AuditReading, continuing kept: AuditChain? = nil) throws {
    var first: LoggedEntry?
    var dropped: [AuditChain] = []
    var unfinished: [UInt8]?
    var isKeptFound = kept == nil
    var isHeadFound = reading.head == nil || reading.head?.chain == .start
    try reading.forEachLine { line in
      guard case .entry(let logged, let content) = line else {
        if case .other(let bytes) = line { Self.add(bytes, to: &unfinished) }
        return
      }
      let note = AuditNote(logged.entry)
      try take(logged, content, after: &first, &unfinished, note)
      if case .dropped(let chain)? = note { dropped.append(chain) }
      let here = AuditChain(number: logged.number, digest: logged.digest)
      if here == kept { isKeptFound = true }
      if here == reading.head?.chain { isHeadFound = true }
      if count == 0 { since = logged.entry.milliseconds }
      end = here
      count += 1
    }
    let last = end?.number ?? 0
    // The next writer will add a note about it.
    if unfinished != nil { unfinishedCount += 1 }
    if let first, first.number > 1, try !Self.continues(first, dropped, reading) { problems.append(.beginsLate(first.number)) }
    if reading.hasLostHead { problems.append(.headIsWrong) }
    if let head = reading.head, !isHeadFound {
      if last < head.chain.number {
        problems.append(.missing(last + 1...head.chain.number))
        mayBePowerFailure = last >= head.synced
      } else {
        problems.append(.headIsWrong)
      }
    }
    guard let kept, !isKeptFound else { return }
    isKeptTooOld = !problems.contains(where: \.isBeginning) && kept.number + 1 < (first?.number ?? 0)
    if dropped.contains(kept) || isKeptTooOld { return }
    problems.append(.notContinued(kept.number))
  }

  /// Appends in place, because a file may have a million lines that are not entries.
  private static func add(_ line: [UInt8], to unfinished: inout [UInt8]?) {
    guard unfinished != nil else {
      unfinished = line
      return
    }
    unfinished?.append(AuditLine.end)
    unfinished?.append(contentsOf: line)
  }

  private mutating func take(
    _ logged: LoggedEntry, _ content: [UInt8], after first: inout LoggedEntry?, _ unfinished: inout [UInt8]?, _ note: AuditNote?
  ) throws {
    if let bytes = unfinished {
      if case .unfinished(let digest, _)? = note, try AuditChain.digest(ofUnfinished: bytes) == digest {
        unfinishedCount += 1
      } else {
        problems.append(.unreadable(after: end?.number ?? 0))
      }
      unfinished = nil
    }
    switch note {
    case .missing?: problems.append(.wereMissing(notedIn: logged.number))
    case .headMissing?, .headDiffers?: problems.append(.headWasWrong(notedIn: logged.number))
    default: break
    }
    guard first != nil, let end else {
      first = logged
      if logged.number == 1, try AuditChain.digest(after: AuditChain.start.digest, content) != logged.digest {
        problems.append(.changed(1))
      }
      return
    }
    if logged.number <= end.number {
      problems.append(.outOfOrder(logged.number))
    } else if logged.number > end.number + 1 {
      problems.append(.missing(end.number + 1...logged.number - 1))
    } else if try AuditChain.digest(after: end.digest, content) != logged.digest {
      problems.append(.changed(logged.number))
    }
  }

  /// Whether the log itself has deleted all entries before its first one.
  private static func continues(_ first: LoggedEntry, _ dropped: [AuditChain], _ reading: AuditReading) throws -> Bool {
    var isWhole = false
    try reading.forEachLine { line in
      guard case .entry(first, let content) = line else { return }
      for chain in dropped where chain.number + 1 == first.number {
        if try AuditChain.digest(after: chain.digest, content) == first.digest { isWhole = true }
      }
    }
    return isWhole
  }
}
