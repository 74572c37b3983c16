/// Finds the salt of a journal whose header is damaged. Each record determines it: a checksum computed backwards ends at its
/// start value.
enum JournalSalvage {
  /// Returns nil if no two consecutive records are found.
  static func salt(of bytes: [UInt8]) -> UInt32? {
    unsafe bytes.withUnsafeBytes { bytes in
      var work = 0
      var offset = 0
      while offset + 16 <= bytes.count, work < 64 << 20 {
        if let first = unsafe record(bytes, at: offset), let second = unsafe record(bytes, at: first.end) {
          work += second.end - offset
          // Any bytes give some salt; only records of one journal give the same salt twice.
          if first.sequence <= second.sequence, second.sequence - first.sequence < 1 << 32 {
            let salt = unsafe first.salt(bytes)
            if unsafe salt == second.salt(bytes) { return salt }
          }
        }
        offset += 1
      }
      return nil
    }
  }

  private struct Record {
    let sequence: UInt64
    let sum: UInt32
    let body: Range<Int>
    var end: Int { body.upperBound }

    func salt(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
      unsafe CRC32C.start(of: sum, over: UnsafeRawBufferPointer(rebasing: bytes[body])) ^ UInt32(truncatingIfNeeded: body.count)
    }
  }

  private static func record(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Record? {
    var reader = unsafe ByteReader(bytes, min(start, bytes.count)..<bytes.count)
    guard let count = reader.number(UInt32.self), count >= 8, count <= JournalRecord.maximumBodyByteCount,
      let sum = reader.number(UInt32.self), let sequence = reader.number(UInt64.self), reader.skip(Int(count) - 8)
    else { return nil }
    return Record(sequence: sequence, sum: sum, body: start + 8..<start + 8 + Int(count))
  }
}
