/// The first 64 bytes of a journal: magic (8), version (4), 0 (4), epoch (8), salt (4), 0 (4), epoch and length of the preceding
/// journal (8 + 8), length of the base (8), offset of the index (4), checksum (4).
struct JournalHeader: Equatable, Sendable {
  static let byteCount = 64
  private static let magic = Array("COFFERJN".utf8)
  private static let version: UInt32 = 1

  /// An even number other than 0, different for each journal of a domain.
  var epoch: UInt64
  /// The start value of the records' checksums: a record copied from another journal fails.
  var salt: UInt32
  /// The preceding journal, which held the same values up to `previousLength`. 0 if there was none.
  var previousEpoch: UInt64
  var previousLength: UInt64
  /// The length of this header and the records that repeat the preceding journal's values. New records follow.
  var baseLength: UInt64
  /// The offset of the record with the offsets of the records before it, in the order of their keys. 0 if there is none.
  var indexOffset: UInt32 = 0

  var bytes: [UInt8] {
    var bytes = Self.magic
    bytes.append(number: Self.version)
    bytes.append(number: UInt32(0))
    bytes.append(number: epoch)
    bytes.append(number: salt)
    bytes.append(number: UInt32(0))
    bytes.append(number: previousEpoch)
    bytes.append(number: previousLength)
    bytes.append(number: baseLength)
    bytes.append(number: indexOffset)
    bytes.append(number: unsafe bytes.withUnsafeBytes { unsafe CRC32C.checksum($0) })
    return bytes
  }

  /// - Throws: `damaged`; `newerFormat`.
  init(_ bytes: [UInt8], _ path: String) throws(PreferenceError) {
    guard bytes.count >= Self.byteCount, bytes.starts(with: Self.magic) else {
      throw PreferenceError(.damaged, "\(path) does not start as a journal does")
    }
    let found = unsafe bytes.withUnsafeBytes { all -> (UInt32, JournalHeader)? in
      var reader = unsafe ByteReader(all, 8..<Self.byteCount)
      guard let version = reader.number(UInt32.self), reader.number(UInt32.self) == 0,
        let epoch = reader.number(UInt64.self), let salt = reader.number(UInt32.self),
        reader.number(UInt32.self) == 0, let previousEpoch = reader.number(UInt64.self),
        let previousLength = reader.number(UInt64.self), let baseLength = reader.number(UInt64.self),
        let indexOffset = reader.number(UInt32.self),
        let sum = reader.number(UInt32.self),
        unsafe sum == CRC32C.checksum(UnsafeRawBufferPointer(rebasing: all[..<(Self.byteCount - 4)]))
      else { return nil }
      return (
        version,
        JournalHeader(
          epoch: epoch, salt: salt, previousEpoch: previousEpoch, previousLength: previousLength, baseLength: baseLength,
          indexOffset: indexOffset)
      )
    }
    guard let found, found.1.epoch != 0, found.1.epoch % 2 == 0 else {
      throw PreferenceError(.damaged, "the first \(Self.byteCount) bytes of \(path)")
    }
    guard found.0 == Self.version else { throw PreferenceError(.newerFormat, "\(path): version \(found.0)") }
    self = found.1
  }

  init(
    epoch: UInt64, salt: UInt32, previousEpoch: UInt64, previousLength: UInt64, baseLength: UInt64, indexOffset: UInt32 = 0
  ) {
    self.epoch = epoch
    self.salt = salt
    self.previousEpoch = previousEpoch
    self.previousLength = previousLength
    self.baseLength = baseLength
    self.indexOffset = indexOffset
  }

  /// The header of the journal that replaces the one with `epoch`.
  static func following(epoch: UInt64, length: UInt64) -> JournalHeader {
    var next = UInt64.random(in: 1 ... .max / 2) * 2
    if next == epoch { next ^= 2 }
    return JournalHeader(
      epoch: next, salt: .random(in: 0 ... .max), previousEpoch: epoch, previousLength: length, baseLength: 0)
  }
}
