import CofferFiles
import Glibc

/// Held by an operation on a whole vault: restore, migrate, rotate or repair. Each may take several transactions, and one at a time is
/// under way; reads and writes of items go on beside it.
///
/// It is byte 2 of the lock file beside the vault, whose other bytes are those of `SideLock`. The kernel releases it when the process
/// ends.
package final class MaintenanceLock: Sendable {
  private static let byte = 2

  private let file: OpenFile
  private let location: Location
  /// Whether this process has made the file, in vain if no vault is there at the end.
  private let isNew: Bool

  /// - Parameter path: The path of the vault, in any form. The vault need not be there, its directory must.
  /// - Throws: `maintenance` if another process has it; `noVault` without the directory; what is wrong with the lock file: `symbolicLink`,
  ///   `hardLink`, `foreignOwner`, `permissionsTooOpen`, `notAFile`, `readOnly`, `accessDenied`, `full`, `io`.
  package init(forVaultAt path: String) throws(StorageError) {
    location = try Location(path)
    while true {
      let isNew = try Files.status(at: location.lock) == nil
      let file = try SideLock.file(at: location.lock)
      switch FileLock(on: file.number, byte: Self.byte).attempt() {
      case .taken: break
      case .busy: throw StorageError(.maintenance, location.path)
      case .failed(let number): throw StorageError(errno: number, location.lock)
      }
      // The process that made it may have removed it meanwhile.
      guard try file.status().links > 0 else { continue }
      (self.file, self.isNew) = (file, isNew)
      return
    }
  }

  deinit {
    // A child of this process has the file too, until it runs its program, and with it the lock.
    defer { FileLock(on: file.number, byte: Self.byte).release() }
    if isNew, (try? Files.status(at: location.path)) == .some(nil) { unsafe unlink(location.lock) }
  }

  /// Whether a process has it. Takes no lock, and makes no file.
  package static func isHeld(forVaultAt path: String) throws(StorageError) -> Bool {
    guard let file = try SmallFile.open(Location(path).lock) else { return false }
    return FileLock.isHeld(byte..<byte + 1, on: file.number) ?? true
  }
}
