internal import AppContainers
import CofferFiles

/// The number of repetitions of each entry, in a file beside the ring that is overwritten in place, so that a killed process
/// loses no count. The next process that logs writes the counts into the ring.
///
/// A slot is 16 bytes: the number of the entry and the number of its repetitions. The process holds a lock on its file.
struct RepeatCounts {
  static let slotCount = 256
  private static let slotByteCount = 16
  private static let maximumFileCount = 1024

  private let file: OpenFile

  /// Takes a file that no process uses, or creates one.
  /// - Returns: Also the counts of processes that were killed, by the number of the entry.
  /// - Throws: `FileError`.
  static func claim(in files: AuditDirectory) throws(FileError) -> (counts: RepeatCounts, left: [UInt64: UInt64]) {
    var left: [UInt64: UInt64] = [:]
    var own: OpenFile?
    for name in try files.countNames() {
      guard let file = try files.directory.fileIfThere(name), AuditLock.takeAtOnce(file),
        try file.namedByteCount() != nil
      else { continue }
      left.merge(try read(file)) { min($0 + $1, AuditChain.maximumNumber) }
      if own == nil { own = file }
    }
    if let own { return (RepeatCounts(file: own), left) }
    return (RepeatCounts(file: try make(in: files)), left)
  }

  /// Clears the counts, after they were written into the ring.
  static func clear(in files: AuditDirectory, but own: RepeatCounts) throws(FileError) {
    try own.clear()
    for name in try files.countNames() where files.directory.below(name) != own.file.path {
      guard let file = try files.directory.fileIfThere(name), AuditLock.takeAtOnce(file) else { continue }
      try files.directory.remove(name)
    }
  }

  private static func make(in files: AuditDirectory) throws(FileError) -> OpenFile {
    for index in 0..<maximumFileCount {
      let file = try files.directory.fileToChange(FileName("\(AuditDirectory.countsPrefix)\(index)"))
      if AuditLock.takeAtOnce(file), try file.namedByteCount() != nil { return file }
    }
    throw FileError(.busy, "\(files.directory.path): \(maximumFileCount) processes count repetitions")
  }

  private static func read(_ file: OpenFile) throws(FileError) -> [(UInt64, UInt64)] {
    let bytes = try file.read(at: 0, count: slotCount * slotByteCount)
    return stride(from: 0, through: bytes.count - slotByteCount, by: slotByteCount).compactMap { start in
      let (number, count) = (word(bytes[start..<start + 8]), word(bytes[start + 8..<start + 16]))
      // The file may have been changed, so limit both numbers to avoid an overflow.
      return count > 0 && max(number, count) <= AuditChain.maximumNumber ? (number, count) : nil
    }
  }

  /// - Parameter slot: Less than `slotCount`.
  func set(_ slot: Int, _ number: UInt64, _ count: UInt64) throws(FileError) {
    try file.write(Self.bytes(number) + Self.bytes(count), at: slot * Self.slotByteCount)
  }

  func clear() throws(FileError) {
    try file.write([UInt8](repeating: 0, count: Self.slotCount * Self.slotByteCount), at: 0)
  }

  private static func bytes(_ word: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }

  private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}

extension OpenDirectory {
  /// Opens the file for reading and writing. Returns nil if it was deleted.
  fileprivate func fileIfThere(_ name: FileName) throws(FileError) -> OpenFile? {
    try kind(name) == .file ? fileToChange(name) : nil
  }
}
