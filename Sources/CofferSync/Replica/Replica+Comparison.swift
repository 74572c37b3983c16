import VaultCore

/// The log of an engine, compared with the entries that this device keeps. Sections 3.3 and 7.1 of docs/sync-format.md.
extension Replica {
  /// Whether an engine that had another history has that of this device again: a damaged file was replaced by the right one, or removed.
  /// - Throws: errors of the engine.
  func isAgain(_ engine: any Engine) throws -> Bool {
    guard let first = kept.first else { return false }
    do {
      return try !compare(engine, from: first.number).numbers.isEmpty
    } catch is Halt {
      return false
    }
  }

  func isKept(_ entry: NumberedEntry) -> Bool {
    guard let first = kept.first, entry.number >= first.number, entry.number < count else { return true }
    return kept[Int(entry.number - first.number)].bytes == Array(entry.bytes.prefix(SealedEntry.maximumByteCount + 1))
  }

  /// The entries of an engine, compared with those that were read.
  struct FoundEntries {
    /// The numbers of those that are as they were, and of older ones than are kept.
    var numbers: Set<UInt64> = []
    /// The numbers of others, in the places of entries that no device needs.
    var garbage: Set<UInt64> = []
    /// The first of the others in another place: the comparison ends with it.
    var difference: NumberedEntry?
  }

  /// An entry in the place of one that this device has read.
  package struct Difference: Sendable {
    package let number: UInt64
    /// nil if no member has made it for this number: the file is damaged, or of another program.
    package let author: DeviceRecord?
  }

  /// The first entry of the engine that is another one than this device has read, and that stops it.
  /// - Throws: errors of the engine.
  package func difference(in engine: any Engine) throws -> Difference? {
    guard let entry = try compared(engine, from: kept.first?.number ?? 0).difference else { return nil }
    return Difference(number: entry.number, author: try isOfMember(entry) ? author(of: entry.bytes) : nil)
  }

  /// Compares the entries of the engine, from a number on and below the count of this device, with those that are kept.
  /// - Throws: `replaced`; errors of the engine.
  func compare(_ engine: any Engine, from start: UInt64) throws -> FoundEntries {
    let found = try compared(engine, from: start)
    guard found.difference == nil else { throw Halt.replaced }
    return found
  }

  private func compared(_ engine: any Engine, from start: UInt64) throws -> FoundEntries {
    var (found, next) = (FoundEntries(), start)
    while next < count {
      let batch = try engine.read(from: next, limit: Self.batchCount).prefix { $0.number < count }
      for entry in batch {
        guard entry.number >= next else { return found }
        if isKept(entry) {
          found.numbers.insert(entry.number)
        } else {
          guard try isGarbage(entry) else {
            found.difference = entry
            return found
          }
          found.garbage.insert(entry.number)
        }
        next = entry.number + 1
      }
      guard !batch.isEmpty else { break }
    }
    return found
  }

  /// Whether another entry than the kept one stops no device: a program has made it in the place of one that was deleted, or the file is
  /// damaged. One of a member is the sign of another history.
  private func isGarbage(_ entry: NumberedEntry) throws -> Bool {
    guard !isNeeded(entry.number), checkpoints.count == 2 else { return false }
    return try strays.contains(ObjectName(of: entry.bytes)) || !isOfMember(entry)
  }

  /// Whether a device may need an entry, although others have made a checkpoint.
  private func isNeeded(_ number: UInt64) -> Bool {
    number >= checkpoints.first?.number ?? 0 || linkedNumbers.contains(number)
  }

  /// Appends what the engine lacks of the entries that are kept, byte for byte: all behind its end, and in front of it those that a device
  /// may need.
  /// - Parameter start: Entries from this number on are looked for; nil: from the first one that is kept.
  /// - Throws: `entriesMissing` if it has no entry in common: it may be another log.
  mutating func restore(_ engine: any Engine, from start: UInt64? = nil) throws {
    guard let first = kept.first else { throw Halt.entriesMissing }
    let start = start ?? first.number
    _ = try restore(engine, compare(engine, from: start), from: start)
  }

  /// - Parameter found: The entries of the engine from `start` on.
  /// - Returns: Whether it has all of them that a device may need.
  /// - Throws: `entriesMissing` if it has no entry in common: it may be another log.
  mutating func restore(_ engine: any Engine, _ found: FoundEntries, from start: UInt64) throws -> Bool {
    guard let first = kept.first else { throw Halt.entriesMissing }
    var there = found.numbers
    guard there.isEmpty ? first.number == 0 : kept.contains(where: { there.contains($0.number) }) else {
      throw Halt.entriesMissing
    }
    let end = there.max().map { $0 + 1 } ?? 0
    var rest = kept[...]
    while let missing = rest.firstIndex(where: { !there.contains($0.number) }) {
      let run = rest[missing...].prefix { !there.contains($0.number) }
      rest = rest[run.endIndex...]
      guard run.contains(where: { $0.number >= end || isNeeded($0.number) }) else { continue }
      // All of the run: an entry is only appended behind the one before it.
      for entry in run {
        let outcome = try engine.append(entry.number, entry.bytes)
        if outcome == .shorter { break }
        // Another device puts them back, too.
        if outcome == .made { restoredCount += 1 }
        there.insert(entry.number)
      }
    }
    return isComplete(there, from: start)
  }

  /// Whether there are all entries, from a number on, that a device may need.
  func isComplete(_ there: Set<UInt64>, from start: UInt64) -> Bool {
    let first = max(start, checkpoints.first?.number ?? 0)
    return (first..<count).allSatisfy(there.contains) && linkedNumbers.allSatisfy { $0 < start || there.contains($0) }
  }
}
