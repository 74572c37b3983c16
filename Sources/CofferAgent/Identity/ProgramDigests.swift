import CLinux
import Glibc
import Synchronization
import VaultCore

/// The attributes that distinguish one content of a file from another without reading it.
struct FileKey: Hashable {
  let device: UInt64
  let inode: UInt64
  let size: Int64
  /// In nanoseconds.
  let modified: Int64
  let changed: Int64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
  }
}

/// The filesystem's trustworthiness for the attributes and the content of a file.
enum FileOrigin {
  /// The kernel: a file system on a device of this machine, or in its memory. While a program runs, its file cannot be written to.
  case local
  /// Another machine, or layers of other file systems: inode and times may stay the same when the content changes.
  case other
  /// A program (FUSE), which may give one content to the process that runs it and another one to its next reader.
  case program

  /// The numbers of linux/magic.h: ext2 to ext4, XFS, Btrfs, F2FS, bcachefs, ZFS, tmpfs, ramfs, SquashFS, EROFS.
  private static let localNumbers: Set<UInt32> = [
    0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0xCA45_1A4E, 0x2FC1_2FC1, 0x0102_1994, 0x8584_58F6, 0x7371_7368, 0xE0F5_E1E2,
  ]
  private static let fuseNumber: UInt32 = 0x6573_5546

  init(of descriptor: Int32) {
    switch coffer_file_system(descriptor) {
    case let number where Self.localNumbers.contains(number): self = .local
    case Self.fuseNumber: self = .program
    // It does not say: a FUSE server may refuse to.
    case 0: self = .program
    default: self = .other
    }
  }
}

/// Digests of programs. Each is read once if its file system is local: BLAKE2b takes about 1.4 ms for a megabyte.
final class ProgramDigests: Sendable {
  /// Programs that are remembered. With more, all are forgotten and read again.
  private static let maximumCount = 1024

  private let known = Mutex<[FileKey: [UInt8]]>([:])

  /// - Parameter isWanted: Asked now and then: a file with holes can be long without taking any room.
  /// - Returns: nil if the file cannot be read to its end, was changed while it was read, or `isWanted` returned false.
  func digest(of descriptor: Int32, _ status: stat, while isWanted: () -> Bool) -> [UInt8]? {
    let key = FileKey(status)
    guard FileOrigin(of: descriptor) == .local else { return unchanged(descriptor, key, while: isWanted) }
    if let digest = known.withLock({ $0[key] }) { return digest }
    guard let digest = unchanged(descriptor, key, while: isWanted) else { return nil }
    known.withLock { known in
      if known.count >= Self.maximumCount { known.removeAll() }
      known[key] = digest
    }
    return digest
  }

  private func unchanged(_ descriptor: Int32, _ key: FileKey, while isWanted: () -> Bool) -> [UInt8]? {
    guard let digest = read(descriptor, while: isWanted) else { return nil }
    var after = stat()
    guard unsafe fstat(descriptor, &after) == 0, FileKey(after) == key else { return nil }
    return digest
  }

  private func read(_ descriptor: Int32, while isWanted: () -> Bool) -> [UInt8]? {
    guard var digest = try? ContentDigest() else { return nil }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    var offset: off_t = 0
    while isWanted() {
      let count = unsafe pread(descriptor, &buffer, buffer.count, offset)
      if count == 0 { return digest.finish() }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      digest.update(Array(buffer[..<count]))
      offset += off_t(count)
    }
    return nil
  }
}
