import CofferFiles
import Glibc

/// A copy of the log of a vault whose file or log is lost. It is made before anything else is done: SQLite deletes a log that lies beside
/// an empty file, plays it into any other file that is put in the vault's place, and takes one without a valid header for empty.
enum KeptLog {
  /// Reads up to `count` bytes from an offset; fewer at the end of the log.
  typealias Reader = (_ offset: Int, _ count: Int) throws(StorageError) -> [UInt8]

  /// Copies the log at its path.
  static func copy(of location: Location) throws(StorageError) -> String? {
    guard let log = try SmallFile.open(location.log) else { return nil }
    return try copy(for: location, byteCount: log.status().size, header: nil) { offset, count throws(StorageError) in
      try log.read(at: offset, count: count)
    }
  }

  /// Copies the log at its path, if SQLite is going to take it for an empty one because its header is not valid.
  static func copyUnreadable(_ location: Location) throws(StorageError) {
    guard let log = try SmallFile.open(location.log), try log.status().size > LogHeader.byteCount else { return }
    // A writer may be writing the header. It has done so by the second look.
    for _ in 0..<2 where try LogHeader(log.read(at: 0, count: LogHeader.byteCount)) != nil { return }
    _ = try copy(of: location)
  }

  /// Copies a log to `NAME-wal.<16 digits>.kept` beside it. The digits are the salts of the log, so that a log is copied once, however often
  /// it is met.
  /// - Parameter header: The header that the log had, for one whose header was overwritten.
  /// - Returns: The path of the copy; nil if there is nothing in the log.
  /// - Throws: what reading and writing throw; `full`.
  static func copy(
    for location: Location, byteCount: Int64, header: LogHeader?, reader: Reader
  ) throws(StorageError) -> String? {
    let chunk = 64 << 10
    var bytes = try reader(0, chunk)
    guard bytes.count > LogHeader.byteCount else { return nil }
    var isMended = false
    // The first frame repeats the salts of its log.
    let salts = bytes.dropFirst(40).prefix(8)
    if LogHeader(Array(bytes[..<LogHeader.byteCount])) == nil, let header, header.salts.elementsEqual(salts) {
      bytes.replaceSubrange(..<LogHeader.byteCount, with: header.bytes)
      isMended = true
    }
    let name = "\(location.log).\(salts.map(hexadecimal).joined()).kept"
    if !isMended, let kept = try Files.status(at: name), kept.size >= byteCount { return name }
    let copy = try UnnamedVault.lockedFile(for: name)
    var count = 0
    while !bytes.isEmpty {
      try copy.file.write(bytes)
      count += bytes.count
      bytes = try reader(count, chunk)
    }
    try copy.file.synchronize()
    // A shorter copy of the same log is a beginning of this one.
    _ = try copy.replace(name)
    try Files.synchronizeDirectory(location.directory)
    return name
  }

  /// Removes the incomplete copies that killed processes have left beside a vault.
  static func removeLeftovers(_ location: Location) {
    let prefix = "\(Path.name(of: location.log))."
    UnnamedVault.leftovers(in: location.directory, remove: true) { $0.hasPrefix(prefix) && $0.hasSuffix(".kept") }
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.utf8.count == 1 ? "0\(digits)" : digits
  }
}
