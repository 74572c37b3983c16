import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@testable import CofferStorage

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

  /// As long as the vault lies where it did: else a writer of the copy would have the vault refused as an older state. The copy goes on by
  /// itself, with an anchor of its own.
  @Test func aCopyLeavesTheAnchorAlone() throws {
    try create("vault")
    try copy("vault", to: "copy")
    let vault = try Vault.inspect(FileStore(at: directory.file("vault"))).id
    // One that is only read has none.
    try open("copy").close()
    #expect(try anchors("copy").ownAnchor(of: vault) == nil && anchors("copy").lastVault() == nil)
    for number in 0..<20 { try write("copy", "c\(number)") }
    try write("vault", "1")
    #expect(code { _ = try open("vault") } == nil)
    try copy("copy", to: "before")
    try write("copy", "2")
    #expect(try anchors("copy").isAnchoredElsewhere(vault) && !anchors("vault").isAnchoredElsewhere(vault))
    // Its own older state is refused, and so is that of the vault at its place.
    for other in ["before", "vault"] {
      try copy("copy", to: "kept")
      try copy(other, to: "copy")
      #expect(code { _ = try open("copy") } == "rolledBack", "\(other)")
      try copy("kept", to: "copy")
    }
    // Another copy is compared with the vault.
    try copy("before", to: "third")
    #expect(code { _ = try open("third") } == "forked")
    // Without the vault, its anchor is the newer one still.
    try FileManager.default.removeItem(atPath: directory.file("vault"))
    try copy("copy", to: "kept")
    try copy("before", to: "copy")
    #expect(code { _ = try open("copy") } == "rolledBack")
    try copy("kept", to: "copy")
    #expect(code { _ = try open("copy") } == nil)
  }

  /// The owner can say that a copy is what it is. This concerns no other path.
  @Test func whatIsAcceptedForACopyIsNotForTheVault() throws {
    try create("vault")
    try copy("vault", to: "old")
    for number in 0..<3 { try write("vault", "\(number)") }
    try copy("old", to: "copy")
    #expect(code { _ = try open("copy") } == "rolledBack")
    let accepted = try Vault.acceptRollback(FileStore(at: directory.file("copy")), with: .throwAway(), anchor: anchors("copy"))
    #expect(accepted?.reason.code == .rolledBack)
    #expect(code { _ = try open("copy") } == nil && code { _ = try open("vault") } == nil)
    try copy("vault", to: "newest")
    try copy("old", to: "vault")
    #expect(code { _ = try open("vault") } == "rolledBack")
    // Nothing to accept: the copy is not the vault by that.
    try copy("newest", to: "vault")
    try copy("newest", to: "same")
    #expect(try Vault.acceptRollback(FileStore(at: directory.file("same")), with: .throwAway(), anchor: anchors("same")) == nil)
    try write("same", "4")
    #expect(code { _ = try open("vault") } == nil)
  }

  /// A file that is another vault by now, or none, has no anchor to lose.
  @Test(arguments: ["other", "text"]) func aVaultWhosePlaceIsTakenWasMoved(other: String) throws {
    try create("vault")
    let vault = try Vault.inspect(FileStore(at: directory.file("vault"))).id
    try copy("vault", to: "before")
    try copy("vault", to: "moved")
    if other == "text" {
      try Data("text".utf8).write(to: URL(filePath: directory.file("vault")))
    } else {
      try create("other")
      try copy("other", to: "vault")
    }
    #expect(try !anchors("moved").isAnchoredElsewhere(vault))
    try write("moved", other)
    try copy("before", to: "moved")
    #expect(code { _ = try open("moved") } == "rolledBack")
  }

  /// A copy was opened while the disk of the vault was away, and has the anchor since. Both go on, and neither is refused.
  @Test func aVaultThatWasMissingGoesOn() throws {
    try create("vault")
    try copy("vault", to: "copy")
    let (vault, away) = (directory.file("vault"), directory.file("away"))
    try FileManager.default.moveItem(atPath: vault, toPath: away)
    try open("copy").close()
    try FileManager.default.moveItem(atPath: away, toPath: vault)
    try copy("vault", to: "old")
    try write("vault", "1")
    try write("copy", "2")
    #expect(code { _ = try open("copy") } == nil && code { _ = try open("vault") } == nil)
    for name in ["vault", "copy"] {
      try copy(name, to: "kept")
      try copy("old", to: name)
      #expect(code { _ = try open(name) } == "rolledBack", "\(name)")
      try copy("kept", to: name)
    }
  }

  /// The vault has lain at the path of the copy before.
  @Test(arguments: ["home/vault.coffer", "new"]) func whatIsAcceptedAtAFormerPathIsNotForTheVault(new: String) throws {
    try FileManager.default.createDirectory(atPath: directory.file("home"), withIntermediateDirectories: true)
    try create("former")
    try copy("former", to: "old")
    try FileManager.default.moveItem(atPath: directory.file("former"), toPath: directory.file(new))
    for number in 0..<3 { try write(new, "\(number)") }
    try copy("old", to: "former")
    let accepted = try Vault.acceptRollback(
      FileStore(at: directory.file("former")), with: .throwAway(), anchor: anchors("former"))
    #expect(accepted?.reason.code == .rolledBack)
    #expect(code { _ = try open("former") } == nil && code { _ = try open(new) } == nil)
    try copy("old", to: new)
    #expect(code { _ = try open(new) } == "rolledBack")
  }

  /// Its anchor was written last at a path at which nothing is any more.
  @Test func theVaultIsTheOneAtTheUsualPath() throws {
    let usual = "home/vault.coffer"
    try FileManager.default.createDirectory(atPath: directory.file("home"), withIntermediateDirectories: true)
    try create("away")
    try copy("away", to: "old")
    try write("away", "1")
    try FileManager.default.moveItem(atPath: directory.file("away"), toPath: directory.file(usual))
    try copy("old", to: "copy")
    _ = try Vault.acceptRollback(FileStore(at: directory.file("copy")), with: .throwAway(), anchor: anchors("copy"))
    #expect(code { _ = try open("copy") } == nil)
    // It was not opened there yet.
    try copy(usual, to: "newest")
    try copy("old", to: usual)
    #expect(code { _ = try open(usual) } == "rolledBack")
    try copy("newest", to: usual)
    #expect(code { _ = try open(usual) } == nil)
  }

  /// A copy was tried at a path, and then the vault is moved to it.
  @Test func aVaultThatIsMovedToThePlaceOfACopyKeepsItsAnchor() throws {
    try create("vault")
    try copy("vault", to: "old")
    try write("vault", "1")
    try copy("old", to: "new")
    _ = try Vault.acceptRollback(FileStore(at: directory.file("new")), with: .throwAway(), anchor: anchors("new"))
    #expect(code { _ = try open("new") } == nil)
    try write("vault", "2")
    try FileManager.default.removeItem(atPath: directory.file("new"))
    try FileManager.default.moveItem(atPath: directory.file("vault"), toPath: directory.file("new"))
    try write("new", "3")
    try copy("old", to: "new")
    #expect(code { _ = try open("new") } == "rolledBack")
  }

  @Test func aLinkToTheNewPlaceIsNoVaultAtTheOldOne() throws {
    try create("vault")
    let vault = try Vault.inspect(FileStore(at: directory.file("vault"))).id
    let moved = directory.file("moved")
    try FileManager.default.moveItem(atPath: directory.file("vault"), toPath: moved)
    try FileManager.default.createSymbolicLink(atPath: directory.file("vault"), withDestinationPath: moved)
    #expect(try !anchors("moved").isAnchoredElsewhere(vault))
  }

  /// The vault was copied to the usual path, and the old file was kept.
  @Test func atTheUsualPathNoCopyLies() throws {
    try create("vault")
    let vault = try Vault.inspect(FileStore(at: directory.file("vault"))).id
    try FileManager.default.createDirectory(atPath: directory.file("home"), withIntermediateDirectories: true)
    for name in ["home/vault.coffer", "home/other.coffer"] { try copy("vault", to: name) }
    #expect(try anchors("home/other.coffer").isAnchoredElsewhere(vault))
    #expect(try !anchors("home/vault.coffer").isAnchoredElsewhere(vault))
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
