import Glibc
import Storage
import VaultCore

/// A vault's file, and what lies beside it.
struct VaultPlace {
  let path: String
  let store: FileStore
  let anchor: any AnchorStore
  private let places: Places

  /// - Throws: `noVault` and whatever else is wrong with the file.
  init(opening path: String?) throws {
    places = try Places { Environment[$0] }
    self.path = path ?? places.vault
    let file = self.path
    store = try about(file) { try FileStore(at: file) }
    anchor = AnchorFile(at: places.anchor(forVaultAt: store.path))
  }

  /// Before anybody is asked for a passphrase.
  /// - Throws: `vaultExists`.
  static func checkFree(_ path: String?) throws {
    let file = try path ?? Places { Environment[$0] }.vault
    guard unsafe access(file, F_OK) != 0 else { throw Failure(FailureTable.storage["vaultExists"], "vaultExists", "", file) }
  }

  init(creating path: String?) throws {
    places = try Places { Environment[$0] }
    self.path = path ?? places.vault
    let file = self.path
    store = try about(file) { try FileStore.create(at: file, createDirectory: path == nil) }
    anchor = AnchorFile(at: places.anchor(forVaultAt: store.path))
  }

  /// The key that binds items to this machine, nil where there is none.
  func deviceKey() throws -> Secret? {
    try DeviceKeyFile(at: places.deviceKey).load()
  }
}
