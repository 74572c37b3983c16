import CofferPropertyLists

/// The content of a journal up to a position.
struct JournalImage {
  private(set) var values = PropertyListDictionary()
  /// See `PreferenceLimits.domainByteCount`.
  private(set) var byteCount = 0
  /// Keys that were changed after the property list was written, with the sequence number of the last change.
  private(set) var unexported: [PropertyListDictionary.Key: UInt64] = [:]
  /// The sequence number of the last record.
  private(set) var sequence: UInt64 = 0
  /// The identity of the property list when its content was last equal to the journal's. nil if there was none.
  private(set) var exported: FileIdentity?
  private(set) var exportedThrough: UInt64 = 0
  /// The length of the journal at that time.
  private(set) var exportPosition = 0
  /// The end of the last record.
  private(set) var position = 0
  /// The number of bytes without a valid record that were followed by one.
  private(set) var damagedByteCount = 0

  init() {}

  /// The values of a property list that was never merged into a journal.
  init(_ values: PropertyListDictionary, exported: FileIdentity?) {
    self.values = values
    self.exported = exported
    byteCount = Self.byteCount(of: values)
  }

  /// The image of a journal that is not read as a whole: see `IndexedJournal`.
  init(tail: JournalImage, byteCount: Int) {
    self = tail
    self.byteCount = byteCount
  }

  /// Sets the value of a key that was read by `IndexedJournal`.
  mutating func know(_ key: PropertyListDictionary.Key, _ value: PropertyListValue?) { values[key] = value }

  static func byteCount(of values: PropertyListDictionary) -> Int {
    values.entries.reduce(0) { $0 + byteCount($1.key, $1.value) }
  }

  static func byteCount(_ key: PropertyListDictionary.Key, _ value: PropertyListValue?) -> Int {
    value.map { key.name.utf8.count + (ValueCoding.byteCount($0) ?? 0) } ?? 0
  }

  /// Applies all valid records in `bytes`, which begin at `position` of the journal.
  mutating func read(_ bytes: [UInt8], salt: UInt32, _ changes: inout ChangeCollector) {
    let start = position
    unsafe bytes.withUnsafeBytes { all in
      // Reserve the capacity, because growing step by step would take longer than everything else.
      if values.isEmpty { values = unsafe PropertyListDictionary(minimumCapacity: JournalScan.recordCount(all)) }
      var scan = unsafe JournalScan(all, from: 0, after: sequence, salt: salt)
      while let record = scan.next() {
        // Records of a newer version are skipped.
        if scan.isValid(record) {
          scan.forEachEntry(of: record) {
            guard $0.kind != JournalRecord.Kind.index, let entry = scan.decode($0) else { return }
            apply(entry, record.sequence, &changes)
          }
          changes.endCommit()
        }
        sequence = record.sequence
        advance(to: start + scan.offset)
      }
      damagedByteCount += scan.damage.reduce(0) { $0 + $1.count }
    }
  }

  /// Set by `apply` until `position` is known.
  private var exportIsNew = false

  /// Sets the position after a record that was just applied.
  mutating func advance(to position: Int) {
    self.position = position
    if exportIsNew { exportPosition = position }
    exportIsNew = false
  }

  /// Continues in another journal with the same values, whose base has this length.
  mutating func skipBase(_ length: Int) {
    position = length
    exportPosition = length
  }

  /// Continues in a journal that was written from this image: values in the property list have `sequence`, all others the next
  /// number.
  mutating func restart(sequence: UInt64, position: Int) {
    exportedThrough = sequence
    self.sequence = unexported.isEmpty ? sequence : sequence + 1
    for key in unexported.keys { unexported[key] = sequence + 1 }
    damagedByteCount = 0
    skipBase(position)
  }

  /// Continues at a position without reading the records before it.
  mutating func restart(at position: Int) { self.position = position }

  /// Sets the length of the base of a journal that was read from its start.
  mutating func noteBase(_ length: Int) { exportPosition = max(exportPosition, length) }

  /// Reads the record at the start of a base, which identifies the property list that was exported with it.
  mutating func readExport(_ bytes: [UInt8], salt: UInt32) -> Bool {
    unsafe bytes.withUnsafeBytes { all in
      var scan = unsafe JournalScan(all, from: 0, after: sequence, salt: salt)
      guard let record = scan.next(), scan.damage.isEmpty, scan.isValid(record) else { return false }
      var found: JournalRecord.Entry?
      scan.forEachEntry(of: record) { found = found ?? scan.decode($0) }
      guard case .exported(let file, let through)? = found else { return false }
      guard through == record.sequence else { return false }
      exported = file
      restart(sequence: through, position: position)
      return true
    }
  }

  /// Adds the values that were lost by damage and are still in the property list.
  mutating func restore(from list: PropertyListDictionary) {
    values = merged(with: list)
    byteCount = Self.byteCount(of: values)
  }

  /// Applies one record. Changes in the same record as `exported` are in the property list already.
  mutating func apply(_ entries: [JournalRecord.Entry], sequence: UInt64, _ changes: inout ChangeCollector) {
    self.sequence = sequence
    for entry in entries { apply(entry, sequence, &changes) }
  }

  private mutating func apply(_ entry: JournalRecord.Entry, _ sequence: UInt64, _ changes: inout ChangeCollector) {
    let (key, value): (PropertyListDictionary.Key, PropertyListValue?)
    switch entry {
    case .set(let set, let new): (key, value) = (set, new)
    case .remove(let removed): (key, value) = (removed, nil)
    case .exported(let file, let through):
      exported = file
      exportedThrough = through
      exportIsNew = true
      unexported = unexported.filter { $0.value > through && $0.value != sequence }
      return
    case .index: return
    }
    let old = values.update(key, to: value)
    byteCount += Self.byteCount(key, value) - Self.byteCount(key, old)
    if sequence > exportedThrough { unexported[key] = sequence }
    changes.note(key, old: old, new: value)
  }

  /// The values of an edited property list, with the changes that were not exported applied to them.
  func merged(with list: PropertyListDictionary) -> PropertyListDictionary {
    var merged = list
    for key in unexported.keys { merged[key] = values[key] }
    return merged
  }
}

/// The edits that lead from one dictionary to another.
extension PropertyListDictionary {
  func entries(to new: PropertyListDictionary) -> [JournalRecord.Entry] {
    var entries: [JournalRecord.Entry] = []
    for (key, _) in self.entries.sorted(by: { $0.key < $1.key }) where new[key] == nil { entries.append(.remove(key)) }
    for (key, value) in new.entries.sorted(by: { $0.key < $1.key }) where self[key] != value { entries.append(.set(key, value)) }
    return entries
  }
}
