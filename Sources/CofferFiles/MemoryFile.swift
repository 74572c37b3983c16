internal import CLinux
internal import Glibc

/// A file without a name, for what another program reads or writes from its beginning to its end.
package final class MemoryFile: Sendable {
  private let file: OwnedDescriptor
  package var number: Int32 { file.number }

  package init() throws(FileError) {
    guard let file = OwnedDescriptor(coffer_memory_file()) else { throw FileError(errno: errno, "memfd_create") }
    self.file = file
  }

  package convenience init(_ bytes: [UInt8]) throws(FileError) {
    try self.init()
    // The object that writes closes a descriptor of its own.
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw FileError(errno: errno, "a file in memory") }
    try OpenFile(copy, "a file in memory").write(bytes)
    lseek(number, 0, SEEK_SET)
  }

  /// The first 4 KiB.
  package func contents() throws(FileError) -> [UInt8] {
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw FileError(errno: errno, "a file in memory") }
    let file = OpenFile(copy, "a file in memory")
    lseek(number, 0, SEEK_SET)
    return try file.read(upTo: 4096)
  }
}
