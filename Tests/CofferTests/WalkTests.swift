import AccessRights
import Coffer
import CofferTesting
import SecretMemory
import Testing
import VaultCore

/// Counts the walks over all records.
private final class CountingStore: Store, Rows {
  let inner = MemoryStore()
  var walks = 0

  func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result { try body(self) }
  func commit(_ prepare: (any Rows) throws -> Change) throws { try inner.commit { _ in try prepare(self) } }
  func header(_ key: Int) throws -> [UInt8]? { try inner.header(key) }
  func headerKeys() throws -> [Int64] { try inner.headerKeys() }
  func node(_ prefix: [UInt8]) throws -> [UInt8]? { try inner.node(prefix) }
  func forEachNode(_ body: ([UInt8]) throws -> Void) throws { try inner.forEachNode(body) }
  func record(_ id: Identifier) throws -> RecordHead? { try inner.record(id) }
  func secret(_ id: Identifier) throws -> [UInt8]? { try inner.secret(id) }
  func forEachRecord(
    under prefix: [UInt8], _ body: (Identifier?, Result<RecordHead, VaultError>) throws -> Void
  ) throws {
    // Groups and rules lie under 00, and every request of an app asks for its grants.
    if prefix != [0] { walks += 1 }
    try inner.forEachRecord(under: prefix, body)
  }
}

/// One item must not cost what all of them cost.
@Suite struct WalkTests {
  @Test func oneItemTakesNoWalkOverTheVault() throws {
    let store = CountingStore()
    var vault = try Vault.throwAway(in: store)
    let app = try Teams.signed(1, "com.example.editor")
    _ = try vault.transaction { try $0.install(app, at: .test) }
    for identity in [KeychainIdentity.owner, .app(app), .groups([.standard])] {
      let keychain = try Keychain(Vault.openThrowAway(store), as: identity)
      store.walks = 0
      let reference = try keychain.add(Item(service: "s", account: "a"), secret: Secret(testing: "1"))
      try keychain.update(reference, secret: Secret(testing: "2"))
      _ = try keychain.secret(of: reference)
      _ = try keychain.item(KeychainQuery(service: "s", account: "a", group: reference.group))
      try keychain.remove(reference)
      #expect(store.walks == 0, "\(identity)")
      // The control: a search by less than that looks at all.
      _ = try keychain.items(KeychainQuery(service: "s"))
      #expect(store.walks > 0)
    }
  }
}
