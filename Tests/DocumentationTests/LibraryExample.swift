import CofferStorage
import CofferTesting
import Foundation
import PreferenceStore
import SecretMemory
import Testing
import VaultCore

import class PreferenceStore.UserDefaults

func databasePassword(in vault: borrowing Vault) throws -> Secret {
  guard let entry = try vault.entry(Item(service: "db.example.org", account: "app")) else {
    throw VaultError(.notFound)
  }
  return try vault.secret(of: entry.reference)
}

func openVault(at path: String, keyFile: consuming Secret) throws -> Vault {
  let store = try FileStore(at: path)
  let places = try Places { ProcessInfo.processInfo.environment[$0] }
  let anchor = places.anchors(forVaultAt: store.path)  // notices an older copy of the file
  return try Vault.open(store, with: .keyFile(keyFile), anchor: anchor)
}

@Test func thePasswordIsFound() throws {
  var vault = try Vault.throwAway()
  let item = Item(service: "db.example.org", account: "app")
  try vault.add(item, secret: Secret(testing: "s3cret"), at: .test)
  let isRight = try databasePassword(in: vault).isEqual(to: Secret(testing: "s3cret"))
  #expect(isRight)
}

func followVolume(of defaults: UserDefaults) -> PreferenceObservation {
  defaults.register(defaults: ["volume": 0.8])
  return defaults.observe("volume", options: .initial) { change in
    // Also called if another program, or `coffer defaults write`, has set it.
    print("volume:", change.new ?? "none")
  }
}

func saveVolume(_ volume: Double, in defaults: UserDefaults) throws {
  try defaults.store(volume, forKey: "volume")  // throws, where `set` only logs
  guard defaults.synchronize() else { throw CocoaError(.fileWriteUnknown) }
}

func refuseSecrets() {
  UserDefaults.secretPolicy = .refuse  // or .warn, which stores them and logs the key
}
