import CofferFiles
import Glibc
package import SecretMemory

/// The files that may have the key of this device for one vault. Thread-safe.
///
/// A rotation of the key writes the new one to `next`, seals the boxes of the vault under it in one commit, and renames `next` to `own`. It
/// may be killed after each of these steps. So the vault decides which key is in force: the one that opens a box of it. A reader renames
/// and removes none of the files, because another one may have read the vault before the commit.
package struct DeviceKeyFiles: Sendable {
  package let own: DeviceKeyFile
  /// A key that a rotation has made, and that may be in force already.
  package let next: DeviceKeyFile
  /// The key of vaults that have no file of their own. A rotation leaves it to the others.
  package let shared: DeviceKeyFile

  init(own: DeviceKeyFile, shared: DeviceKeyFile) {
    (self.own, self.shared) = (own, shared)
    next = DeviceKeyFile(at: own.path + ".new")
  }

  /// The key in force. nil if there is none.
  ///
  /// To be called after the vault was opened: a key that was read before may have been replaced meanwhile, and what is sealed under it would
  /// be lost. A key that is replaced after this comes with a new master key, so that a vault that was opened before writes nothing.
  /// - Parameter opens: Whether a box of the vault opens under a key. Called only if there are several.
  /// - Throws: as `DeviceKeyFile.load`; the errors of `opens`.
  package func load(_ opens: (borrowing Secret) throws -> Bool) throws -> Secret? {
    // The first: it may be renamed to `own` at any time.
    if let next = try next.load(), try opens(next) { return next }
    guard let own = try own.load() else { return try shared.load() }
    // A backup from before the vault had a key of its own may have been restored.
    guard let shared = try shared.load(), try !opens(own), try opens(shared) else { return own }
    return shared
  }

  /// Makes a key of the vault's own if it would have none.
  /// - Throws: as `DeviceKeyFile.createUnlessThere`.
  package func createUnlessThere() throws {
    if try shared.load() == nil { try own.createUnlessThere() }
  }

  /// For a new vault: it does not use the key of the others.
  /// - Throws: as `DeviceKeyFile.createUnlessThere`.
  package func createBesideShared() throws {
    if try shared.load() != nil { try own.createUnlessThere() }
  }

  // MARK: Within the maintenance lock

  /// A new key that is not in force yet, durable when the call returns. One of an earlier rotation, which opens no box, is replaced.
  /// - Throws: as `DeviceKeyFile.create`.
  package func makeNext() throws { try next.write(.random(count: DeviceKeyFile.byteCount), replacing: true) }

  /// It stays if it cannot be removed, until `makeNext` replaces it.
  package func removeNext() { unsafe unlink(next.path) }

  /// `next` is the vault's own key from here on. The one of before is lost, unless other vaults share it.
  /// - Throws: `StorageError` of the directory.
  package func takeNext() throws {
    try Files.rename(next.path, to: own.path)
    try Files.synchronizeDirectory(Path.parent(of: own.path))
  }
}
