internal import Glibc

/// A file that is written under another name, and takes its place in one step when it is complete. It is removed if it never does.
package struct NewFile<Failure: FileFailure>: ~Copyable {
  package let file: File<Failure>
  /// Until it takes its place.
  package let path: String
  private var isPlaced = false

  /// Makes the file, for this user alone.
  /// - Parameters:
  ///   - path: The name until it is complete, in the same directory. See `TemporaryName`.
  ///   - name: The name of the file in errors; nil: `path`.
  /// - Throws: errors of the system, `exists` among them.
  package init(at path: String, named name: String? = nil) throws(Failure) {
    file = try Self.made(at: path, named: name)
    self.path = path
    // The umask may take bits from the owner.
    _ = fchmod(file.number, 0o600)
  }

  /// It has a lock, so that `TemporaryName.removeLeftovers` of another process passes over it. One that came before the lock has removed it.
  private static func made(at path: String, named name: String?) throws(Failure) -> File<Failure> {
    while true {
      let file = try File<Failure>(path, O_RDWR | O_CREAT | O_EXCL, named: name)
      guard flock(file.number, LOCK_EX) == 0, try file.status().links == 0 else { return file }
    }
  }

  deinit {
    if !isPlaced { _ = unsafe unlink(path) }
  }

  /// In the place of whatever file lies there. The name is on the disk after `Files.synchronizeDirectory`.
  package consuming func replace(_ other: String) throws(Failure) -> File<Failure> {
    try Files<Failure>.rename(path, to: other)
    isPlaced = true
    return file
  }

  /// - Returns: false if something lies at the path. The file is removed then.
  package consuming func appear(at other: String) throws(Failure) -> Bool {
    isPlaced = try Files<Failure>.renameWithoutReplacing(path, to: other)
    return isPlaced
  }
}
