import CofferFiles

/// Which pages lie in the write-ahead log beside a file. https://sqlite.org/walformat.html
///
/// SQLite takes the number of pages from the log, and opens a file that was cut without a word if there is one.
enum LogPages {
  static let frameHeaderByteCount = 24

  /// How many pages of a file are in neither the file nor the log.
  /// - Parameters:
  ///   - count: The pages that it is to have.
  ///   - byteCount: Its size.
  /// - Throws: what reading throws.
  static func missing(of count: Int64, in location: Location, byteCount: Int64) throws(StorageError) -> Int64 {
    let end = byteCount / Int64(Container.pageByteCount)
    return count > end ? try count - end - Int64(numbers(from: end + 1, in: location).count) : 0
  }

  /// - Parameter first: Pages below it are not looked for.
  private static func numbers(from first: Int64, in location: Location) throws(StorageError) -> Set<Int64> {
    var found: Set<Int64> = []
    guard let log = try SmallFile.open(location.log) else { return found }
    let header = try log.read(at: 0, count: LogHeader.byteCount)
    guard header.count == LogHeader.byteCount else { return found }
    var offset = LogHeader.byteCount
    while true {
      let frame = try log.read(at: offset, count: frameHeaderByteCount)
      // A frame of an earlier round has other salts.
      guard frame.count == frameHeaderByteCount, frame[8..<16] == header[16..<24] else { return found }
      let page = frame[0..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
      if page >= first { found.insert(page) }
      offset += frameHeaderByteCount + Container.pageByteCount
    }
  }
}
