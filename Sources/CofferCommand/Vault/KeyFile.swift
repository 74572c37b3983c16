import CLinux
import CofferConsole
import Glibc

extension Descriptor {
  /// Opens a key file, and warns if other users may read it. Its content is read after `Hardening.hide()`.
  /// - Throws: I/O.
  static func openKeyFile(_ path: String) throws -> Descriptor {
    let file = try open(path)
    var status = stat()
    if unsafe fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o044 != 0 {
      error.note("coffer: warning: \(path.escapingControls()): others may read this key file (chmod 600)\n")
    }
    return file
  }
}
