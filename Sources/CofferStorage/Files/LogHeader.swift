/// The first 32 bytes of a write-ahead log. https://sqlite.org/walformat.html
struct LogHeader: Equatable {
  static let byteCount = 32

  let bytes: [UInt8]
  /// A new pair each time that a writer begins the log anew. Each frame repeats it.
  var salts: ArraySlice<UInt8> { bytes[16..<24] }

  /// Returns nil if the header is not valid: SQLite takes the log for an empty one then, writes over it, and deletes it.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    func word(_ offset: Int, isBigEndian: Bool = true) -> UInt32 {
      let word = bytes[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      return isBigEndian ? word : word.byteSwapped
    }
    guard word(0) & ~1 == 0x377F_0682, word(8) == Container.pageByteCount else { return nil }
    // The last bit of the magic number gives the byte order of what the checksum adds up.
    let isBigEndian = word(0) & 1 == 1
    var (first, second): (UInt32, UInt32) = (0, 0)
    for offset in stride(from: 0, to: 24, by: 8) {
      first &+= word(offset, isBigEndian: isBigEndian) &+ second
      second &+= word(offset + 4, isBigEndian: isBigEndian) &+ first
    }
    guard word(24) == first, word(28) == second else { return nil }
    self.bytes = bytes
  }
}

/// The header of the log's index, which SQLite keeps in memory that all processes share, in `-shm`.
struct LogIndex: Equatable {
  /// How many frames of the log are committed, and not yet overwritten.
  let frames: Int64
  let salts: [UInt8]

  private static let frameByteCount = Int64(LogPages.frameHeaderByteCount + Container.pageByteCount)
  /// How long the log is at least.
  var logByteCount: Int64 { Int64(LogHeader.byteCount) + frames * Self.frameByteCount }
  /// If there is a frame.
  var offsetOfLastFrame: Int64 { logByteCount - Self.frameByteCount }
}
