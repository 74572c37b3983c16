import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

/// Vaults that are moved, copied and exchanged, with the anchors of one machine.
@Suite struct AnchoredFileTests {
  let directory: Directory
  let places: Places

  init() throws {
    let directory = try Directory(inMemory: true)
    self.directory = directory
    places = try Places { $0 == "COFFER_HOME" ? directory.file("home") : nil }
  }

  private func anchors(_ name: String) throws -> AnchorFiles {
    places.anchors(forVaultAt: try FileStore(at: directory.file(name)).path)
  }

  private func open(_ name: String, isCopy: Bool = false) throws -> Vault {
    try Vault.open(FileStore(at: directory.file(name)), with: .throwAway(), anchor: anchors(name), isCopy: isCopy)
  }

  private func create(_ name: String) throws {
    let store = try FileStore.create(at: directory.file(name))
    try Vault.throwAway(in: store, anchor: places.anchors(forVaultAt: store.path)).close()
  }

  private func write(_ name: String, _ account: String) throws {
    var vault = try open(name)
    try vault.add(Item(service: "s", account: account), secret: Secret(count: 0), at: .test)
    try vault.close()
  }

  private func copy(_ name: String, to other: String) throws {
    try? FileManager.default.removeItem(atPath: directory.file(other))
    try FileManager.default.copyItem(atPath: directory.file(name), toPath: directory.file(other))
  }

  @Test func aVaultThatIsMovedKeepsItsAnchor() throws {
    try create("vault")
    try copy("vault", to: "old")
    try write("vault", "1")
    try FileManager.default.moveItem(atPath: directory.file("vault"), toPath: directory.file("moved"))
    #expect(code { _ = try open("moved") } == nil)
    try copy("old", to: "moved")
    #expect(code { _ = try open("moved") } == "rolledBack")
    // Also if it was moved and put back by the same hand.
    try copy("old", to: "elsewhere")
    #expect(code { _ = try open("elsewhere") } == "rolledBack")
  }

  @Test func anotherVaultAtAPathIsRefused() throws {
    try create("vault")
    try create("other")
    try FileManager.default.removeItem(atPath: directory.file("vault"))
    try FileManager.default.moveItem(atPath: directory.file("other"), toPath: directory.file("vault"))
    #expect(code { _ = try open("vault") } == "anchorOtherVault")
    let store = try FileStore(at: directory.file("vault"))
    let accepted = try Vault.acceptRollback(store, with: .throwAway(), anchor: anchors("vault"))
    #expect(accepted?.reason.code == .anchorOtherVault && accepted?.wasSeenHere == false)
    #expect(code { _ = try open("vault") } == nil)
  }

  @Test func aNewVaultTakesThePlaceOfOneThatWasDeleted() throws {
    try create("vault")
    try FileManager.default.removeItem(atPath: directory.file("vault"))
    try create("vault")
    #expect(code { _ = try open("vault") } == nil)
  }

  @Test func aBackupBesideItsOriginalIsComparedAndChangesNothing() throws {
    try create("vault")
    try copy("vault", to: "backup")
    try write("vault", "1")
    let before = try FileManager.default.contentsOfDirectory(atPath: anchors("vault").directory).sorted()
    let id = try open("vault").status().id
    let anchor = try anchors("vault").load(id)
    do {
      let backup = try open("backup", isCopy: true)
      guard case .refused(let rollback) = backup.rollbackCheck else {
        Issue.record("not compared")
        return
      }
      #expect(rollback.reason.code == .rolledBack && !rollback.wasSeenHere && rollback.present == 1 && rollback.seen == 2)
      #expect(try backup.verify().isSound)
      try backup.close()
    }
    #expect(try anchors("vault").load(id) == anchor)
    #expect(try FileManager.default.contentsOfDirectory(atPath: anchors("vault").directory).sorted() == before)
    #expect(code { _ = try open("vault") } == nil)
    // The vault itself, put back in its own place, is another matter.
    try copy("backup", to: "vault")
    guard case .refused(let rollback) = try open("vault", isCopy: true).rollbackCheck else {
      Issue.record("not compared")
      return
    }
    #expect(rollback.wasSeenHere)
  }
}
