internal import CLinux
package import CofferFiles
internal import Glibc
package import SecretMemory

/// A file in memory that holds a secret and can be read alone, as often as it is opened. It has no name in a directory; a program that
/// inherits its descriptor finds it as `/proc/self/fd/N`.
package enum SealedFile {
  /// Shells and scripts use the numbers below.
  private static let lowestDescriptor: Int32 = 10

  /// - Returns: A descriptor that is closed on exec, at the begin of the file.
  /// - Throws: errors of the system.
  package static func make(of secret: borrowing Secret, named name: String) throws(FileError) -> OwnedDescriptor {
    guard let made = OwnedDescriptor(coffer_sealable_file()) else { throw FileError(errno: errno, name) }
    guard let file = OwnedDescriptor(fcntl(made.number, F_DUPFD_CLOEXEC, lowestDescriptor)) else {
      throw FileError(errno: errno, name)
    }
    guard fchmod(file.number, 0o600) == 0 else { throw FileError(errno: errno, name) }
    try write(secret, to: file.number, name)
    guard coffer_seal(file.number) == 0, lseek(file.number, 0, SEEK_SET) == 0 else { throw FileError(errno: errno, name) }
    return file
  }

  private static func write(_ secret: borrowing Secret, to number: Int32, _ name: String) throws(FileError) {
    try secret.withBytes { (bytes) throws(FileError) in
      var written = 0
      while written < bytes.byteCount {
        let from = written
        let part = unsafe bytes.withUnsafeBytes { buffer in
          retrying { unsafe Glibc.write(number, buffer.baseAddress! + from, buffer.count - from) }
        }
        guard part.result >= 0 else { throw FileError(errno: part.errno, name) }
        written += part.result
      }
    }
  }
}
