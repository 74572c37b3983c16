import CofferPropertyLists

/// Walks the records of a journal without decoding them.
///
/// A record with a wrong checksum that is followed by a valid one is damaged: it is skipped and counted. If none follows, it is
/// an unfinished write and ends the journal.
@safe struct JournalScan {
  struct Record {
    let sequence: UInt64
    /// The range of the entries in the bytes.
    let entries: Range<Int>
  }

  struct Entry {
    let kind: UInt8
    let key: Range<Int>
    let value: Range<Int>
  }

  private let bytes: UnsafeRawBufferPointer
  private let salt: UInt32
  /// The end of the last valid record.
  private(set) var offset: Int
  private var lastSequence: UInt64
  /// Ranges without a valid record that are followed by one.
  private(set) var damage: [Range<Int>] = []

  init(_ bytes: UnsafeRawBufferPointer, from offset: Int, after sequence: UInt64, salt: UInt32) {
    unsafe self.bytes = unsafe bytes
    self.salt = salt
    self.offset = offset
    lastSequence = sequence
  }

  mutating func next() -> Record? {
    if let record = record(at: offset) { return step(record) }
    // Zeros alone are not a record yet.
    guard unsafe offset < bytes.count, let found = firstRecord(after: offset) else { return nil }
    damage.append(offset..<found.entries.lowerBound - 16)
    return step(found)
  }

  private mutating func step(_ record: Record) -> Record {
    offset = record.entries.upperBound
    lastSequence = record.sequence
    return record
  }

  private func record(at start: Int) -> Record? {
    var reader = unsafe ByteReader(bytes, start..<bytes.count)
    guard unsafe start <= bytes.count, let count = reader.number(UInt32.self), count >= 8,
      count <= JournalRecord.maximumBodyByteCount, let sum = reader.number(UInt32.self),
      let body = unsafe reader.take(Int(count))
    else { return nil }
    let sequence = unsafe UInt64(littleEndian: body.loadUnaligned(as: UInt64.self))
    // The records in the base of a journal have equal sequence numbers, because they were written at one moment.
    guard sequence >= lastSequence, unsafe sum == JournalRecord.checksum(body, salt: salt) else { return nil }
    return Record(sequence: sequence, entries: start + 16..<start + 8 + Int(count))
  }

  /// Searches for the next valid record. The work is limited, so that no content of a damaged file makes the search slow.
  private func firstRecord(after start: Int) -> Record? {
    var work = 0
    var candidate = start + 1
    while unsafe candidate + 16 <= bytes.count {
      let count = unsafe Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: candidate, as: UInt32.self)))
      let sequence = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: candidate + 8, as: UInt64.self))
      if count >= 8, unsafe candidate + 8 + count <= bytes.count, sequence >= lastSequence,
        sequence - lastSequence < 1 << 32
      {
        work += count
        if let record = record(at: candidate) { return record }
        guard work < 256 << 20 else { return nil }
      }
      candidate += 1
    }
    return nil
  }

  /// The number of records, by their lengths alone, without checking them.
  static func recordCount(_ bytes: UnsafeRawBufferPointer) -> Int {
    var reader = unsafe ByteReader(bytes, 0..<bytes.count)
    var count = 0
    while let length = reader.number(UInt32.self), length >= 8, reader.skip(Int(length) + 4) { count += 1 }
    return count
  }

  /// Whether a record consists of entries. A record that does not, although its checksum is right, was written by a newer
  /// version.
  func isValid(_ record: Record) -> Bool {
    var reader = unsafe ByteReader(bytes, record.entries)
    while !reader.isAtEnd { guard nextEntry(&reader) != nil else { return false } }
    return true
  }

  /// The entries of a valid record, in order.
  func forEachEntry(of record: Record, _ body: (Entry) -> Void) {
    var reader = unsafe ByteReader(bytes, record.entries)
    while !reader.isAtEnd, let entry = nextEntry(&reader) { body(entry) }
  }

  private func nextEntry(_ reader: inout ByteReader) -> Entry? {
    guard let kind = reader.number(UInt8.self), let keyCount = reader.number(UInt32.self),
      let valueCount = reader.number(UInt32.self)
    else { return nil }
    let key = reader.offset
    guard reader.skip(Int(keyCount)), reader.skip(Int(valueCount)) else { return nil }
    let value = key + Int(keyCount)
    return Entry(kind: kind, key: key..<value, value: value..<value + Int(valueCount))
  }

  /// Returns nil if this version cannot decode the entry.
  func decode(_ entry: Entry) -> JournalRecord.Entry? {
    var keyReader = unsafe ByteReader(bytes, entry.key)
    guard let key = keyReader.text(entry.key.count) else { return nil }
    var reader = unsafe ByteReader(bytes, entry.value)
    switch entry.kind {
    case JournalRecord.Kind.set:
      guard let value = ValueCoding.read(&reader), reader.isAtEnd else { return nil }
      return .set(.init(key), value)
    case JournalRecord.Kind.remove: return reader.isAtEnd ? .remove(.init(key)) : nil
    case JournalRecord.Kind.exported:
      guard let through = reader.number(UInt64.self) else { return nil }
      if reader.isAtEnd { return .exported(nil, through: through) }
      guard let inode = reader.number(UInt64.self), let size = reader.number(UInt64.self),
        let modified = reader.number(Int64.self), reader.isAtEnd
      else { return nil }
      return .exported(FileIdentity(inode: inode, size: size, modified: modified), through: through)
    case JournalRecord.Kind.index:
      var offsets: [UInt32] = []
      offsets.reserveCapacity(entry.value.count / 4)
      while let offset = reader.number(UInt32.self) { offsets.append(offset) }
      return .index(offsets)
    default: return nil
    }
  }
}
