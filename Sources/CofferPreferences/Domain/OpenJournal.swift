internal import CofferFiles
import Glibc

/// The journal that a process has read, and appends to.
struct OpenJournal {
  let file: OpenFile
  let header: JournalHeader
  /// The length that is on the disk, in bytes.
  var durableLength = 0
  /// The length that has blocks on the disk, in bytes.
  private var allocatedLength = 0
  /// Whether the journal's name is on the disk.
  var isNameDurable = false
  /// The offset of this process's last record, and the record's first bytes; 0 if there is none.
  private var mark: (offset: Int, bytes: UInt64) = (0, 0)
  /// The journal is no longer at its path.
  var isGone = false
  /// Synchronising has failed, so the content may not be on the disk although later calls succeed.
  var mustBeReplaced = false
  /// A record was read or written that is not committed, or only a part of the values was read.
  var mustBeReloaded = false

  init(_ file: OpenFile, _ header: JournalHeader) {
    self.file = file
    self.header = header
  }

  /// A journal that this process has written and synchronised, with this length.
  init(new file: OpenFile, _ header: JournalHeader, length: Int, isNameDurable: Bool) {
    self.init(file, header)
    self.isNameDurable = isNameDurable
    durableLength = length
    allocatedLength = length
  }

  /// Appends a record at `start`. Beyond the end of the file, zeros are added: writing to allocated blocks makes a synchronisation a
  /// third faster, and works on a full disk.
  mutating func append(_ record: [UInt8], at start: Int) throws(PreferenceError) {
    let end = start + record.count
    if end <= allocatedLength {
      try file.write(record, at: start)
    } else {
      let chunk = min(max(4096, start), 64 << 10)
      let padded = (end / chunk + 1) * chunk
      do throws(PreferenceError) {
        try file.write(record + [UInt8](repeating: 0, count: padded - end), at: start)
        allocatedLength = padded
      } catch {
        guard error.code == .full else { throw error }
        do throws(PreferenceError) {
          try file.write(record, at: start)
        } catch {
          // An uncommitted record need not stay; on a full disk its blocks may be needed by another program.
          ftruncate(file.number, off_t(start))
          allocatedLength = 0
          throw error
        }
      }
    }
    mark = (start, Self.mark(of: record))
  }

  /// Whether the file at the path is this journal, of at least this length, with this process's last record.
  /// - Parameter found: The identity of the file at the journal's path.
  func isIntact(_ found: FileIdentity, length: Int) throws(PreferenceError) -> Bool {
    let status = try file.status()
    // Another user with write access to the directory could put a file of his own there, and would read the next records.
    guard status.owner == geteuid(), found.inode == FileIdentity(status).inode, found.size >= UInt64(length),
      try file.read(at: 0, count: JournalHeader.byteCount) == header.bytes
    else { return false }
    guard mark.offset != 0 else { return true }
    return Self.mark(of: try file.read(at: mark.offset, count: 8)) == mark.bytes
  }

  /// The length and checksum of the record at the start of `bytes`.
  private static func mark(of bytes: [UInt8]) -> UInt64 {
    guard bytes.count >= 8 else { return 0 }
    return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt64.self) }
  }
}
