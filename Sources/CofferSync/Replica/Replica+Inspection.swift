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

  /// Looks at all entries, at the names of all objects and at the bytes of some: puts back the entries that the engine lacks, and deletes,
  /// as an owner, garbage in the place of others, and what was not needed for long enough. The caller looks once a day, and before it adds
  /// a device.
  /// - Parameters:
  ///   - engine: All of its log has been read.
  ///   - garbage: Counts this look, unless `isCounted` is false.
  ///   - isCounted: Whether the last look that was counted is at least a day old.
  /// - Throws: `replaced` if it has another entry than this device; errors of the engine if it does not list the objects.
  package mutating func inspect(_ engine: any Engine, _ garbage: inout GarbageCollection, isCounted: Bool) throws -> Inspection {
    var inspection = Inspection()
    var found = FoundEntries()
    do {
      inspection.lacksEntries = try noting { replica in
        found = try replica.compare(engine, from: 0)
        return try !(replica.kept.isEmpty ? replica.isComplete(found.numbers, from: 0) : replica.restore(engine, found, from: 0))
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
    // The role of others at the engine need not allow it. A device that was removed in a history that it has left does not have all that
    // the others need.
    if membership[id]?.role == .owner, !awaitedRemovals.contains(id) {
      do {
        // A new device would fold it, and find that the entries behind it do not follow. Behind a gap it begins with a checkpoint.
        if !found.garbage.isEmpty { try engine.deleteEntries(found.garbage.sorted().map { $0..<$0 + 1 }) }
        if isCounted { try garbage.look(at: self, names, engine) }
      } catch {
        inspection.undeleted = error
      }
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
}
