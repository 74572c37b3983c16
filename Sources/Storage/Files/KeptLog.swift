import Glibc

/// A copy of the log of a vault whose file is lost. It is made before anything else is done: SQLite deletes a log that lies beside an
/// empty file, and plays it into any other file that is put in the vault's place.
enum KeptLog {
  private static let headerByteCount = 32

  /// Copies the log to `NAME-wal.<16 digits>.kept` beside it. The digits are the salts in the log's header, so that a log is copied
  /// once, however often it is met.
  /// - Returns: The path of the copy; nil if there is nothing in the log.
  /// - Throws: what reading and writing throw; `full`.
  static func copy(of location: Location) throws(StorageError) -> String? {
    guard let log = try SmallFile.open(location.log) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    var count = try log.read(into: &bytes)
    guard count > headerByteCount else { return nil }
    let name = "\(location.log).\(bytes[16..<24].map(hexadecimal).joined()).kept"
    if let kept = try FileStatus.at(name), try kept.size >= log.status().size { return name }
    let temporary = TemporaryName.next(for: name)
    do throws(StorageError) {
      let copy = try Descriptor(temporary, O_WRONLY | O_CREAT | O_EXCL)
      try copy.setMode(0o600)
      while count > 0 {
        try copy.write(unsafe bytes.span.bytes.extracting(0..<count))
        count = try log.read(into: &bytes)
      }
      try copy.synchronize()
      // A shorter copy of the same log is a beginning of this one.
      guard unsafe rename(temporary, name) == 0 else { throw StorageError(errno: errno, name) }
    } catch {
      unsafe unlink(temporary)
      throw error
    }
    try Directories.synchronize(location.directory)
    return name
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.utf8.count == 1 ? "0\(digits)" : digits
  }
}

extension Descriptor {
  /// - Returns: How many bytes there were.
  fileprivate borrowing func read(into bytes: inout [UInt8]) throws(StorageError) -> Int {
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    return try read(into: &raw)
  }
}
