package import CofferStorage
import VaultCore

/// The vault of a user, where the user's programs look for it.
extension AgentVault {
  /// - Parameter path: Nil for the user's own.
  /// - Throws: `StorageError` of the file.
  package convenience init(_ places: Places, at path: String? = nil) throws {
    let path = try FileStore(at: path ?? places.vault).path
    let inspect: @Sendable () throws -> VaultStatus = { try Vault.inspect(FileStore(at: path)) }
    self.init(at: path, inspect: inspect) { credential in
      // An item of this device may be the next thing that somebody stores, and the key is read here alone.
      let deviceKey = DeviceKeyFile(at: places.deviceKey)
      try deviceKey.createUnlessThere()
      return try Vault.open(
        FileStore(at: path), with: credential, anchor: places.anchors(forVaultAt: path), deviceKey: try deviceKey.load())
    }
  }
}
