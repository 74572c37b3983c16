package import CofferSync
package import VaultCore

/// The value of an item that the vault has, as the space knows it.
struct KnownRow: Equatable, Sendable {
  /// The version of the item in the vault with this value; nil if that is not known, because the vault was written a moment ago.
  var version: UInt64?
  /// The writes whose values it has.
  var content: Identifier
  var secret: Identifier
  /// The writes that a person who sees it has seen.
  var seen: SeenWrites

  /// - Returns: nil for an entity that is not an item with all of its parts.
  init?(_ entity: Entity, version: UInt64?) {
    guard entity.exists, let content = entity[.content].first?.dot, let secret = entity[.secret].first?.dot else { return nil }
    (self.content, self.secret, self.version) = (content, secret, version)
    seen = SeenWrites(entity)
  }

  func hasValues(of other: KnownRow) -> Bool {
    content == other.content && secret == other.secret && seen == other.seen
  }

  init(reading reader: inout BodyReader) throws {
    let isKnown = try reader.readByte(in: 0...1) == 1
    let version: UInt64 = try reader.readInteger()
    self.version = isKnown ? version : nil
    (content, secret) = (try reader.readIdentifier(), try reader.readIdentifier())
    seen = SeenWrites()
    for register in Register.allCases {
      let count: UInt32 = try reader.readInteger()
      seen[register] = try reader.readAscending(Int(count))
    }
  }

  func write(to writer: inout BodyWriter) {
    writer.append(UInt8(version == nil ? 0 : 1))
    writer.append(version ?? 0)
    writer.append(content)
    writer.append(secret)
    for register in Register.allCases {
      writer.append(UInt32(seen[register].count))
      for dot in seen[register] { writer.append(dot) }
    }
  }
}

/// How far a vault is: written into the vault and then into the files of this device, so that an older vault is recognised.
package struct Stamp: Equatable, Sendable {
  static let byteCount = 24
  /// Identifies the files, which may have been lost and made anew.
  let instance: Identifier
  var count: UInt64

  /// Whether the vault is as it was before the files were written.
  func isBefore(_ other: Stamp) -> Bool { instance != other.instance || count < other.count }

  var bytes: [UInt8] { instance.bytes + count.littleEndianBytes }
}

/// The state of this device in a space: the replica, and how the vault agrees with it.
package struct LocalState: Sendable {
  /// The first one has no settings, the second one no notes, and the third one no inspection.
  fileprivate static let formatVersions: ClosedRange<UInt8> = 1...4

  package internal(set) var replica: Replica
  /// Where the log lies. See `EngineAddress`.
  package internal(set) var engine: String
  /// The groups whose items this device shares.
  package internal(set) var groups: Set<AccessGroup>
  /// Which settings this device shares.
  package internal(set) var settings = SettingsShare()
  /// The items of these groups that are in the space, by their tags.
  var rows: [Identifier: KnownRow] = [:]
  var stamp: Stamp
  /// When this device last appended, in milliseconds since 1970; 0 for never.
  var lastAppended: Int64 = 0
  package internal(set) var notes = SyncNotes()
  var garbage = GarbageCollection()
  /// When this device last looked at all that the engine has, in milliseconds since 1970; 0 for never.
  var lastInspection: Int64 = 0
  /// The latest time of a look that has counted.
  var lastCounted: Int64 = 0

  /// - Parameter isPersonal: Whether the space is that of one person, which has settings too.
  package init(_ replica: Replica, engine: String, groups: Set<AccessGroup> = [], isPersonal: Bool = false) throws {
    (self.replica, self.engine, self.groups) = (replica, engine, groups)
    settings.isPersonal = isPersonal
    guard let instance = Identifier(SecretBox.randomBytes(Identifier.byteCount)) else { throw SyncError(.stateMalformed) }
    stamp = Stamp(instance: instance, count: 0)
  }

  /// The part that is not the replica.
  func header() throws -> LockedBytes {
    var writer = BodyWriter()
    writer.append(Self.formatVersions.upperBound)
    writer.append(text: engine)
    writer.append(UInt32(groups.count))
    for group in groups.sorted() { writer.append(text: group.name) }
    writer.append(stamp.bytes)
    writer.append(lastAppended)
    writer.append(UInt32(rows.count))
    settings.write(to: &writer)
    notes.write(to: &writer)
    garbage.write(to: &writer)
    writer.append(lastInspection)
    writer.append(lastCounted)
    return try writer.finish()
  }

  init(_ header: Header, rows: [Identifier: KnownRow], _ replica: Replica) {
    (self.replica, self.rows) = (replica, rows)
    (engine, groups, settings, stamp) = (header.engine, header.groups, header.settings, header.stamp)
    (lastAppended, notes) = (header.lastAppended, header.notes)
    (garbage, lastInspection, lastCounted) = (header.garbage, header.lastInspection, header.lastCounted)
  }

  /// The part that is not the replica, as it is read.
  struct Header {
    let engine: String
    let groups: Set<AccessGroup>
    let stamp: Stamp
    let lastAppended: Int64
    /// The number of rows that follow.
    let rowCount: Int
    let settings: SettingsShare
    let notes: SyncNotes
    let garbage: GarbageCollection
    let lastInspection: Int64
    let lastCounted: Int64

    init(reading frame: LockedBytes) throws {
      var reader = BodyReader(frame)
      let version = try reader.readByte(in: LocalState.formatVersions)
      engine = try reader.readName(atMost: 4096)
      let groupCount: UInt32 = try reader.readInteger()
      groups = Set(
        try (0..<groupCount).map { _ in try AccessGroup(try reader.readName(atMost: AccessGroup.maximumByteCount)) })
      stamp = Stamp(instance: try reader.readIdentifier(), count: try reader.readInteger())
      lastAppended = try reader.readInteger()
      rowCount = Int(try reader.readInteger(UInt32.self))
      settings = version > 1 ? try SettingsShare(reading: &reader) : SettingsShare()
      notes = version > 2 ? try SyncNotes(reading: &reader) : SyncNotes()
      garbage = version > 3 ? try GarbageCollection(reading: &reader) : GarbageCollection()
      lastInspection = version > 3 ? try reader.readInteger() : 0
      lastCounted = version > 3 ? try reader.readInteger() : 0
      try reader.readEnd()
    }
  }
}
