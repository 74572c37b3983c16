import CofferPropertyLists

/// Changes that take effect at once. Length of the body (4 bytes), checksum of body and length (4), body: sequence number (8),
/// entries.
///
/// An entry: kind (1), length of the key (4), length of the value (4), key, value. Little-endian.
struct JournalRecord {
  enum Entry {
    case set(PropertyListDictionary.Key, PropertyListValue)
    case remove(PropertyListDictionary.Key)
    /// The property list with this identity contains all records up to `through`. nil if there was no property list.
    case exported(FileIdentity?, through: UInt64)
    /// The offsets of the base's records, in the order of their keys. Each of these records holds one key.
    case index([UInt32])
  }

  enum Kind {
    static let set: UInt8 = 1
    static let remove: UInt8 = 2
    static let exported: UInt8 = 3
    static let index: UInt8 = 4
  }

  static let headByteCount = 8
  static let entryHeadByteCount = 9
  /// Enough to set a whole domain in one record.
  static let maximumBodyByteCount = 64 << 20

  let sequence: UInt64
  let entries: [Entry]

  func append(to bytes: inout [UInt8], salt: UInt32) {
    let start = bytes.count
    bytes.append(number: UInt32(0))
    bytes.append(number: UInt32(0))
    bytes.append(number: sequence)
    for entry in entries { Self.append(entry, to: &bytes) }
    let count = UInt32(bytes.count - start - Self.headByteCount)
    bytes.replace(at: start, number: count)
    let sum = unsafe bytes.withUnsafeBytes { all in
      unsafe Self.checksum(UnsafeRawBufferPointer(rebasing: all[(start + Self.headByteCount)...]), salt: salt)
    }
    bytes.replace(at: start + 4, number: sum)
  }

  /// The checksum of a body and its length.
  static func checksum(_ body: UnsafeRawBufferPointer, salt: UInt32) -> UInt32 {
    unsafe CRC32C.checksum(body, start: salt ^ UInt32(truncatingIfNeeded: body.count))
  }

  private static func append(_ entry: Entry, to bytes: inout [UInt8]) {
    let start = bytes.count
    func head(_ kind: UInt8, _ key: String) {
      bytes.append(kind)
      bytes.append(number: UInt32(key.utf8.count))
      bytes.append(number: UInt32(0))
      bytes.append(contentsOf: key.utf8)
    }
    switch entry {
    case .set(let key, let value):
      head(Kind.set, key.name)
      ValueCoding.append(value, to: &bytes)
      bytes.replace(at: start + 5, number: UInt32(bytes.count - start - entryHeadByteCount - key.name.utf8.count))
    case .remove(let key): head(Kind.remove, key.name)
    case .exported(let file, let through):
      head(Kind.exported, "")
      bytes.append(number: through)
      if let file {
        bytes.append(number: file.inode)
        bytes.append(number: file.size)
        bytes.append(number: file.modified)
      }
      bytes.replace(at: start + 5, number: UInt32(bytes.count - start - entryHeadByteCount))
    case .index(let offsets):
      head(Kind.index, "")
      for offset in offsets { bytes.append(number: offset) }
      bytes.replace(at: start + 5, number: UInt32(bytes.count - start - entryHeadByteCount))
    }
  }
}
