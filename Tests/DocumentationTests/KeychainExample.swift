import AccessRights
import Coffer
import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

/// Stores a token and reads it again.
func store(_ token: borrowing Secret, as app: SignedManifest, keyFile: consuming Secret) throws {
  let keychain = try Keychain.open(with: .keyFile(keyFile), as: .app(app))
  let item = Item(service: "api.example.com", account: "ada")
  do {
    try keychain.add(item, secret: token)
  } catch KeychainError.Code.duplicate {
    try keychain.update(keychain.item(KeychainQuery(service: "api.example.com", account: "ada")).reference, secret: token)
  }
  for entry in try keychain.items(KeychainQuery(service: "api.example.com", account: nil)) {
    let secret = try keychain.secret(of: entry.reference)
    secret.withBytes { bytes in print("\(entry.item["account"] ?? ""): \(bytes.byteCount) bytes") }
  }
  try keychain.lock()
}

/// Stores a token that stays readable while the vault is locked.
func keepForTheBackground(_ token: borrowing Secret, in keychain: Keychain) throws {
  let item = Item(service: "sync.example.com", account: "ada")
  let reference = try keychain.add(item, secret: token, accessible: .afterFirstUnlock)
  try keychain.lock()
  try keychain.update(reference, secret: token) { $0.label = "used while locked" }
}

/// Keeps a list of services up to date, until its task is cancelled.
func follow(_ keychain: Keychain, _ show: (Set<Reference>) -> Void) async throws {
  let changes = keychain.changes
  var known = Set(try keychain.items().map(\.reference))
  show(known)
  for try await change in changes {
    switch change {
    case .added(let reference): known.insert(reference)
    case .removed(let reference): known.remove(reference)
    case .updated: break
    case .missed, .locked, .unlocked: known = Set((try? keychain.items().map(\.reference)) ?? [])
    }
    show(known)
  }
}

/// Reads a token through the agent. Returns nil if the vault has to be unlocked first: `coffer vault unlock`.
func token(for account: String) throws -> Secret? {
  let keychain = try Keychain.connect()
  do {
    let entry = try keychain.item(KeychainQuery(service: "api.example.com", account: account))
    return try keychain.secret(of: entry.reference, purpose: "to synchronise")
  } catch KeychainError.Code.locked, KeychainError.Code.agent {
    return nil
  }
}

@Suite struct KeychainExampleTests {
  /// In a process of its own, whose home has no agent.
  @Test(.timeLimit(.minutes(60))) func withoutAnAgentThereIsNoToken() async throws {
    _ = try await #require(processExitsWith: .success, observing: []) {
      unsafe setenv("COFFER_HOME", FileManager.default.temporaryDirectory.path + "/coffer-none-\(UUID())", 1)
      let isMissing = try token(for: "ada") == nil
      #expect(isMissing)
    }
  }

  @Test func aListFollowsTheKeychain() async throws {
    let keychain = try Keychain(Vault.throwAway(), as: .groups([.standard]))
    let (shown, continuation) = AsyncStream.makeStream(of: Int.self)
    let following = Task { try await follow(keychain) { continuation.yield($0.count) } }
    var counts = shown.makeAsyncIterator()
    #expect(await counts.next() == 0)
    let reference = try keychain.add(Item(service: "s", account: ""), secret: Secret(testing: "x"), accessible: .afterFirstUnlock)
    #expect(await counts.next() == 1)
    try keychain.lock()
    #expect(await counts.next() == 1)
    try keychain.remove(reference)
    #expect(await counts.next() == 0)
    following.cancel()
    try await following.value
  }

  @Test func aServiceGoesOnWhileItIsLocked() throws {
    let keychain = try Keychain(Vault.throwAway(), as: .groups([.standard]))
    try keepForTheBackground(Secret(testing: "token"), in: keychain)
    #expect(try keychain.item(KeychainQuery(service: "sync.example.com")).item.label == "used while locked")
  }

  /// Runs the example of the page in a process of its own, because it uses the user's own vault.
  @Test(.timeLimit(.minutes(60))) func thePageDoesWhatItShows() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let home = FileManager.default.temporaryDirectory.appending(path: "coffer-page-\(UUID())")
      try FileManager.default.createDirectory(
        at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      defer { try? FileManager.default.removeItem(at: home) }
      unsafe setenv("COFFER_HOME", home.path, 1)
      let keyFile = [UInt8](repeating: 0x54, count: 64)
      let key = try TeamSigningKey(seed: Secret(testing: [UInt8](repeating: 1, count: 32)))
      let app = try SignedManifest(
        signing: Manifest(
          team: key.publicKey.identifier, identifier: AppIdentifier("com.example.client"), displayName: "Client", version: 1,
          executables: [.init(path: "client", role: .app, digest: keyFile.suffix(32))]), with: key)
      var vault = try Vault.create(
        in: FileStore.create(at: home.appending(path: "vault.coffer").path), with: .keyFile(Secret(testing: keyFile)), at: .test)
      _ = try vault.transaction { try $0.install(app, at: .test) }
      try store(Secret(testing: "one"), as: app, keyFile: Secret(testing: keyFile))
      try store(Secret(testing: "three"), as: app, keyFile: Secret(testing: keyFile))
    }
    #expect(String(decoding: result.standardOutputContent, as: UTF8.self).contains("ada: 3 bytes\nada: 5 bytes\n"))
  }
}
