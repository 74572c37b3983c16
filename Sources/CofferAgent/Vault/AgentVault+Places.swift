import CofferLifecycle
package import CofferStorage
import VaultCore

/// The vault of a user, where the user's programs look for it.
extension AgentVault {
  /// - Parameter path: Nil for the user's own.
  /// - Throws: `StorageError` of the file.
  package convenience init(_ places: Places, at path: String? = nil) throws {
    self.init(places, ofFileAt: try FileStore(at: path ?? places.vault).path)
  }

  /// The vault of an agent with a user of its own. It may not be there yet.
  package convenience init(ofSystem places: Places) { self.init(places, ofFileAt: places.vault, quota: .standard) }

  private convenience init(_ places: Places, ofFileAt path: String, quota: ProgramQuota.Limits? = nil) {
    let inspect: @Sendable () throws -> VaultStatus = { try Vault.inspect(FileStore(at: path)) }
    self.init(at: path, quota: quota, inspect: inspect) { credential in
      let store = try FileStore(at: path)
      let vault = try Vault.open(store, with: credential, anchor: places.anchors(forVaultAt: store.path))
      // The next item that is stored may be one of this device, and the key is read here alone.
      try places.deviceKeys(of: vault.keys.vault).open(vault, making: true)
      return vault
    }
  }
}
