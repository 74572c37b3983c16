import CofferTesting
import Foundation
import Storage
import Testing
import VaultCore

func databasePassword(in vault: borrowing Vault) throws -> Secret {
  guard let entry = try vault.entry(Item(service: "db.example.org", account: "app")) else {
    throw VaultError(.notFound)
  }
  return try vault.secret(of: entry.reference)
}

func openVault(at path: String, keyFile: consuming Secret) throws -> Vault {
  let store = try FileStore(at: path)
  let places = try Places { ProcessInfo.processInfo.environment[$0] }
  let anchor = AnchorFile(at: places.anchor(forVaultAt: store.path))  // notices an older copy of the file
  return try Vault.open(store, with: .keyFile(keyFile), anchor: anchor)
}

@Test func thePasswordIsFound() throws {
  var vault = try Vault.throwAway()
  let item = Item(service: "db.example.org", account: "app")
  try vault.add(item, secret: Secret(testing: "s3cret"), at: .test)
  let isRight = try databasePassword(in: vault).isEqual(to: Secret(testing: "s3cret"))
  #expect(isRight)
}
