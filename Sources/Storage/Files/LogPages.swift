import Glibc
internal import SystemCalls

/// Which pages lie in the write-ahead log beside a file. https://sqlite.org/walformat.html
///
/// SQLite takes the number of pages from the log, and opens a file that was cut without a word if there is one.
enum LogPages {
  private static let headerByteCount: Int64 = 32
  private static let frameHeaderByteCount = 24

  /// - Parameter first: Pages below it are not looked for.
  /// - Throws: what reading throws.
  static func numbers(from first: Int64, in location: Location) throws(StorageError) -> Set<Int64> {
    var found: Set<Int64> = []
    guard let log = try SmallFile.open(location.log) else { return found }
    guard let header = try bytes(of: log, Int(headerByteCount), at: 0) else { return found }
    var offset = headerByteCount
    // A frame of an earlier round has other salts.
    while let frame = try bytes(of: log, frameHeaderByteCount, at: offset), frame[8..<16] == header[16..<24] {
      let page = frame[0..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
      if page >= first { found.insert(page) }
      offset += Int64(frameHeaderByteCount + Container.pageByteCount)
    }
    return found
  }

  /// Nil past the end of the file.
  private static func bytes(of file: borrowing Descriptor, _ count: Int, at offset: Int64) throws(StorageError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = unsafe bytes.withUnsafeMutableBytes { buffer in
      retrying { unsafe pread(file.number, buffer.baseAddress, count, Int(offset)) }
    }
    guard got.result >= 0 else { throw StorageError(errno: got.errno, "read") }
    return got.result == count ? bytes : nil
  }
}
