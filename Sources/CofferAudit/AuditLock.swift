internal import AppContainers
internal import CLinux
internal import CofferFiles
internal import Glibc

/// A lock on the file `head`, held while a process writes or reads the end of the log. The kernel releases it when the process
/// dies.
enum AuditLock {
  /// The maximum time to wait, in milliseconds. The lock is held only while an entry is written; the limit matters if a process
  /// was stopped meanwhile.
  private static let patience = 5000

  static func take(_ file: OpenFile, isShared: Bool = false) throws(FileError) {
    try FileLock(on: file.number).take(
      isShared ? .shared : .exclusive, until: Deadline(milliseconds: patience), pause: LockPause(50, upTo: 5000), file.path,
      orThrow: FileError(.busy, "\(file.path): another process keeps it locked"))
  }

  /// Locks until the file is closed. Returns false if another process holds the lock.
  static func takeAtOnce(_ file: OpenFile) -> Bool {
    guard case .taken = FileLock(on: file.number).attempt() else { return false }
    return true
  }

  static func release(_ file: OpenFile) { FileLock(on: file.number).release() }
}

extension File<FileError> {
  /// Appends all bytes in one call, or none.
  /// - Throws: `full` if the disk had room for a part only; errors of the system.
  func append(_ bytes: [UInt8], after byteCount: Int) throws(FileError) {
    let written = unsafe bytes.withUnsafeBytes { buffer in
      retrying { unsafe Glibc.write(number, buffer.baseAddress, buffer.count) }
    }
    guard written.result != bytes.count else { return }
    // If truncating fails too, the next writer adds a note about the incomplete bytes.
    if written.result > 0 { ftruncate(number, byteCount) }
    throw written.result >= 0 ? FileError(.full, path) : FileError(errno: written.errno, path)
  }

  /// The size of the file, in bytes. nil if the file was deleted.
  func namedByteCount() throws(FileError) -> Int? {
    let status = try status()
    return status.links == 0 ? nil : Int(status.size)
  }
}
