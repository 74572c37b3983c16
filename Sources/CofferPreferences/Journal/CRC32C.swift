/// The checksum of RFC 3720 (Castagnoli's polynomial), eight bytes at a time. It detects accidents, not manipulation.
enum CRC32C {
  /// The checksum of one byte at each of eight positions: 8 times 256 words.
  private static let table: [UInt32] = {
    var table = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var value = UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
      table[byte] = value
    }
    for byte in 0..<256 {
      for place in 1..<8 {
        let value = table[(place - 1) * 256 + byte]
        table[place * 256 + byte] = value >> 8 ^ table[Int(value & 0xFF)]
      }
    }
    return table
  }()

  /// - Parameter start: The checksum of the preceding bytes; or a random salt, without which the checksum cannot be checked.
  static func checksum(_ bytes: UnsafeRawBufferPointer, start: UInt32 = 0) -> UInt32 {
    unsafe table.withUnsafeBufferPointer { table in
      var sum = ~start
      var offset = 0
      while offset + 8 <= bytes.count {
        let word = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ UInt64(sum)
        sum = unsafe table[7 * 256 + Int(word & 0xFF)] ^ table[6 * 256 + Int(word >> 8 & 0xFF)]
        sum = unsafe sum ^ table[5 * 256 + Int(word >> 16 & 0xFF)] ^ table[4 * 256 + Int(word >> 24 & 0xFF)]
        sum = unsafe sum ^ table[3 * 256 + Int(word >> 32 & 0xFF)] ^ table[2 * 256 + Int(word >> 40 & 0xFF)]
        sum = unsafe sum ^ table[256 + Int(word >> 48 & 0xFF)] ^ table[Int(word >> 56)]
        offset += 8
      }
      while offset < bytes.count {
        sum = unsafe sum >> 8 ^ table[Int((sum ^ UInt32(bytes[offset])) & 0xFF)]
        offset += 1
      }
      return ~sum
    }
  }
  /// The value of `start` for which the checksum of the bytes is `sum`.
  static func start(of sum: UInt32, over bytes: UnsafeRawBufferPointer) -> UInt32 {
    unsafe table.withUnsafeBufferPointer { table in
      var state = ~sum
      var offset = bytes.count
      while offset > 0 {
        offset -= 1
        // The upper byte of each word of the table is unique.
        let index = UInt32(lastByteIndex[Int(state >> 24)])
        state = unsafe (state ^ table[Int(index)]) << 8 | (index ^ UInt32(bytes[offset]))
      }
      return ~state
    }
  }

  /// The index of the table's word that has the byte as its upper byte.
  private static let lastByteIndex: [UInt8] = {
    var index = [UInt8](repeating: 0, count: 256)
    for byte in 0..<256 { index[Int(table[byte] >> 24)] = UInt8(byte) }
    return index
  }()
}
