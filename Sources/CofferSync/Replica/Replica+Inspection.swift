import VaultCore

/// Entries and objects that an engine has lost, or that no device needs. Section 7.1 of docs/sync-format.md.
extension Replica {
  /// The entries and objects that a new device would find missing.
  package struct Inspection: Sendable {
    /// Entries that this device does not keep.
    package var lacksEntries = false
    /// Why entries were not read, or not put back.
    package var unrestored: (any Error)?
    /// Large values, and parts of the last checkpoint, that the engine lacks or has with other bytes.
    package var missingObjects: Set<ObjectName> = []
    /// Why the engine did not delete what no device needs.
    package var undeleted: (any Error)?

    package init() {}
  }

  /// Looks at all entries, at the names of all objects and at the bytes of some: puts back the entries that the engine lacks, and deletes, as an owner, what was
  /// not needed for long enough. The caller looks once a day, and before it adds a device.
  /// - Parameters:
  ///   - engine: All of its log has been read.
  ///   - garbage: Counts this look, unless `isCounted` is false.
  ///   - isCounted: Whether the last look that was counted is at least a day old.
  /// - Throws: `replaced` if it has another entry than this device; errors of the engine if it does not list the objects.
  package mutating func inspect(_ engine: any Engine, _ garbage: inout GarbageCollection, isCounted: Bool) throws -> Inspection {
    var inspection = Inspection()
    do {
      inspection.lacksEntries = try noting { replica in
        try
          !(replica.kept.isEmpty
          ? replica.isComplete(replica.numbers(in: engine, from: 0), from: 0) : replica.restore(engine, from: 0))
      }
    } catch let halt as Halt {
      throw halt
    } catch {
      // A full engine, or one that this user may only read, does not stop what needs no room.
      inspection.unrestored = error
    }
    // Without all names nothing is known to be missing.
    guard let names = try engine.allNames() else { return inspection }
    inspection.missingObjects = presentObjects.subtracting(names).union(damaged(presentObjects.intersection(names), engine))
    partNames = partNames.filter { !inspection.missingObjects.contains($0.value) }
    // The role of others at the engine need not allow it.
    if isCounted, membership[id]?.role == .owner {
      do { try garbage.look(at: self, names, engine) } catch { inspection.undeleted = error }
    }
    return inspection
  }

  /// The size in bytes of the objects that a look reads: all of a small space, and those of a large one in some days.
  private static let readByteCount = 4 << 20

  /// The objects among the first ones, from one at random on, whose bytes are not those of their names. An error ends the search: the
  /// look of the next day begins elsewhere.
  private func damaged(_ names: Set<ObjectName>, _ engine: any Engine) -> Set<ObjectName> {
    let sorted = names.sorted()
    guard let start = sorted.indices.randomElement() else { return [] }
    var (damaged, byteCount) = (Set<ObjectName>(), 0)
    for name in sorted[start...] + sorted[..<start] where byteCount < Self.readByteCount {
      guard let object = try? engine.get(name) else { break }
      byteCount += object.count
      if ObjectName(of: object) != name { damaged.insert(name) }
    }
    return damaged
  }

  /// Whether an engine that had another history has that of this device again: a damaged file was replaced by the right one, or removed.
  /// - Throws: errors of the engine.
  func isAgain(_ engine: any Engine) throws -> Bool {
    guard let first = kept.first else { return false }
    do {
      return try !numbers(in: engine, from: first.number).isEmpty
    } catch is Halt {
      return false
    }
  }

  func isKept(_ entry: NumberedEntry) -> Bool {
    guard let first = kept.first, entry.number >= first.number, entry.number < count else { return true }
    return kept[Int(entry.number - first.number)].bytes == Array(entry.bytes.prefix(SealedEntry.maximumByteCount + 1))
  }

  /// The numbers of the entries of the engine, from a number on, and below the count of this device. All that
  /// are kept are compared, but for those that no device needs.
  /// - Throws: `replaced`; errors of the engine.
  func numbers(in engine: any Engine, from start: UInt64) throws -> Set<UInt64> {
    var (numbers, next) = (Set<UInt64>(), start)
    while next < count {
      let batch = try engine.read(from: next, limit: Self.batchCount).prefix { $0.number < count }
      for entry in batch {
        guard entry.number >= next else { return numbers }
        // A program that makes a file in the place of one that was deleted stops no device.
        guard isKept(entry) || !isNeeded(entry.number) && checkpoints.count == 2 else { throw Halt.replaced }
        numbers.insert(entry.number)
        next = entry.number + 1
      }
      guard !batch.isEmpty else { break }
    }
    return numbers
  }

  /// Whether a device may need an entry, although others have made a checkpoint.
  private func isNeeded(_ number: UInt64) -> Bool {
    number >= checkpoints.first?.number ?? 0 || linkedNumbers.contains(number)
  }

  /// Appends what the engine lacks of the entries that are kept, byte for byte: all behind its end, and in front of it those that a device
  /// may need.
  /// - Parameter start: Entries from this number on are looked for; nil: from the first one that is kept.
  /// - Returns: Whether it has all of them that a device may need.
  /// - Throws: `entriesMissing` if it has no entry in common: it may be another log.
  @discardableResult
  mutating func restore(_ engine: any Engine, from start: UInt64? = nil) throws -> Bool {
    guard let first = kept.first else { throw Halt.entriesMissing }
    let start = start ?? first.number
    var there = try numbers(in: engine, from: start)
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
  private func isComplete(_ there: Set<UInt64>, from start: UInt64) -> Bool {
    let first = max(start, checkpoints.first?.number ?? 0)
    return (first..<count).allSatisfy(there.contains) && linkedNumbers.allSatisfy { $0 < start || there.contains($0) }
  }
}
