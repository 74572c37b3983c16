import CofferFiles
import CofferPropertyLists

/// A long journal, from which reading one value takes only the index, the records after it, and one record of the base.
///
/// Each record that is read is verified by its checksum. If anything is not as expected, the caller reads the journal as a whole.
final class IndexedJournal: Sendable {
  /// The least size of a base, in bytes, that gets an index.
  static let leastByteCount = 16 << 10

  private let file: OpenFile
  private let header: JournalHeader
  private let offsets: [UInt32]
  /// The values of the records after the index.
  let tail: JournalImage
  /// Keys that the tail sets or removes.
  let known: Set<PropertyListDictionary.Key>

  /// - Parameter length: The number of committed bytes.
  /// - Returns: nil if there is no index, or something is damaged.
  init?(_ file: OpenFile, _ header: JournalHeader, length: Int) throws(PreferenceError) {
    self.file = file
    self.header = header
    let start = Int(header.indexOffset)
    guard start >= JournalHeader.byteCount, length >= Int(clamping: header.baseLength), start < length else { return nil }
    let bytes = try file.read(at: start, count: length - start)
    guard bytes.count == length - start else { return nil }
    var image = JournalImage()
    guard let first = try Self.record(file, header, JournalHeader.byteCount),
      image.readExport(first, salt: header.salt)
    else { return nil }
    image.restart(at: start)
    var found: [UInt32]?
    var keys: Set<PropertyListDictionary.Key> = []
    unsafe bytes.withUnsafeBytes { all in
      var scan = unsafe JournalScan(all, from: 0, after: 0, salt: header.salt)
      guard let record = scan.next(), scan.damage.isEmpty, scan.isValid(record) else { return }
      scan.forEachEntry(of: record) { if case .index(let offsets)? = scan.decode($0) { found = offsets } }
      while let record = scan.next() {
        guard scan.isValid(record) else { continue }
        scan.forEachEntry(of: record) { entry in
          switch scan.decode(entry) {
          case .set(let key, _)?, .remove(let key)?: keys.insert(key)
          default: break
          }
        }
      }
    }
    guard let found else { return nil }
    var nobody = ChangeCollector(isWanted: false)
    image.read(bytes, salt: header.salt, &nobody)
    guard image.position == length, image.damagedByteCount == 0 else { return nil }
    image.noteBase(Int(clamping: header.baseLength))
    offsets = found
    tail = image
    known = keys
  }

  /// The value in the base. The caller looks in the tail first.
  /// - Throws: `damaged` if the journal has to be read as a whole.
  func value(forKey key: PropertyListDictionary.Key) throws(PreferenceError) -> PropertyListValue? {
    var low = 0
    var high = offsets.count
    while low < high {
      let middle = (low + high) / 2
      guard let bytes = try Self.record(file, header, Int(offsets[middle])),
        let (found, value) = Self.entry(bytes, salt: header.salt)
      else { throw PreferenceError(.damaged, file.path) }
      if found == key { return value }
      if found < key { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The bytes of one record. nil if its length is invalid.
  private static func record(_ file: OpenFile, _ header: JournalHeader, _ offset: Int) throws(PreferenceError) -> [UInt8]? {
    // 256 bytes hold most records as a whole.
    let start = try file.read(at: offset, count: 256)
    guard start.count > JournalRecord.headByteCount else { return nil }
    let count = unsafe start.withUnsafeBytes { unsafe Int(UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self))) }
    guard count >= 8, count <= JournalRecord.maximumBodyByteCount else { return nil }
    let whole = count + JournalRecord.headByteCount
    let bytes = whole <= start.count ? Array(start[..<whole]) : try file.read(at: offset, count: whole)
    return bytes.count == whole ? bytes : nil
  }

  private static func entry(_ bytes: [UInt8], salt: UInt32) -> (PropertyListDictionary.Key, PropertyListValue)? {
    unsafe bytes.withUnsafeBytes { all in
      var scan = unsafe JournalScan(all, from: 0, after: 0, salt: salt)
      guard let record = scan.next(), scan.damage.isEmpty, scan.isValid(record) else { return nil }
      var found: (PropertyListDictionary.Key, PropertyListValue)?
      scan.forEachEntry(of: record) { if case .set(let key, let value)? = scan.decode($0) { found = (key, value) } }
      return found
    }
  }
}
