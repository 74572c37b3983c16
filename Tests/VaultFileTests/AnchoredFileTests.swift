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

  /// The vault that was last opened at its path may be what is damaged there. A copy does not get its anchor.
  @Test(arguments: ["other", "text"]) func aDamagedVaultKeepsItsAnchor(other: String) throws {
    try create("vault")
    let vault = try Vault.inspect(FileStore(at: directory.file("vault"))).id
    try copy("vault", to: "old")
    for number in 0..<3 { try write("vault", "\(number)") }
    try copy("vault", to: "newest")
    if other == "text" {
      try Data("text".utf8).write(to: URL(filePath: directory.file("vault")))
    } else {
      try create("other")
      try copy("other", to: "vault")
    }
    try copy("old", to: "look")
    #expect(try anchors("look").isAnchoredElsewhere(vault))
    _ = try Vault.acceptRollback(FileStore(at: directory.file("look")), with: .throwAway(), anchor: anchors("look"))
    #expect(code { _ = try open("look") } == nil)
    try copy("old", to: "vault")
    #expect(code { _ = try open("vault") } == "rolledBack")
    try copy("newest", to: "vault")
    #expect(code { _ = try open("vault") } == nil)
  }

  /// Another vault has been opened at its path since, so that no damage of it can lie there.
  @Test func aVaultWhosePlaceAnotherHasTakenWasMoved() throws {
    try create("vault")
    let vault = try Vault.inspect(FileStore(at: directory.file("vault"))).id
    try copy("vault", to: "moved")
    try FileManager.default.removeItem(atPath: directory.file("vault"))
    try create("vault")
    #expect(try !anchors("moved").isAnchoredElsewhere(vault))
  }

  /// A copy has a newer anchor than the vault, under the keys of before. Another person hides the vault for the time of one write to the copy:
  /// the anchor of the vault stays.
  @Test func theAnchorOfTheVaultDoesNotFollowACopy() throws {
    try create("vault")
    try copy("vault", to: "copy")
    for number in 0..<9 { try write("copy", "\(number)") }
    try renew("vault")
    try copy("vault", to: "newest")
    try FileManager.default.removeItem(atPath: directory.file("vault"))
    try write("copy", "hidden")
    for isRenewed in [false, true] {
      if isRenewed { try renew("copy") }
      try copy("copy", to: "vault")
      #expect(code { _ = try open("vault") } == "anchorOtherKeys", "\(isRenewed)")
      try FileManager.default.removeItem(atPath: directory.file("vault"))
    }
    try copy("newest", to: "vault")
    #expect(code { _ = try open("vault") } == nil && code { _ = try open("copy") } == nil)
  }

  private func add(_ count: Int, _ service: String, to vault: inout Vault) throws {
    for number in 0..<count { try vault.add(Item(service: service, account: "\(number)"), secret: Secret(count: 0), at: .test) }
  }

  private func renew(_ name: String) throws {
    var vault = try open(name)
    let status = try vault.status()
    var renewal = try MasterKeyRenewal(of: status)
    for slot in status.slots { try renewal.seal(slot, under: .throwAway(), kdf: .floor) }
    try renewal.commit(to: &vault)
    try vault.close()
  }

  /// The vault and its copy are lost, and the owner accepts an older state at the path of the copy.
  @Test func whatIsAcceptedInThePlaceOfACopyOpens() throws {
    try create("vault")
    try copy("vault", to: "copy")
    try copy("vault", to: "old")
    for number in 0..<9 { try write("copy", "\(number)") }
    try FileManager.default.removeItem(atPath: directory.file("vault"))
    try copy("old", to: "copy")
    #expect(code { _ = try open("copy") } == "rolledBack")
    _ = try Vault.acceptRollback(FileStore(at: directory.file("copy")), with: .throwAway(), anchor: anchors("copy"))
    #expect(code { _ = try open("copy") } == nil)
    try write("copy", "new")
    try copy("old", to: "copy")
    #expect(code { _ = try open("copy") } == "rolledBack")
  }

  /// The owner looks at an old state at another path, also at that of the user's own vault: the anchor of the vault stays.
  @Test(arguments: [false, true]) func whatIsAcceptedElsewhereIsNotForTheVault(isAway: Bool) throws {
    try create("vault")
    try copy("vault", to: "old")
    for number in 0..<3 { try write("vault", "\(number)") }
    try copy("vault", to: "newest")
    if isAway { try FileManager.default.removeItem(atPath: directory.file("vault")) }
    try FileManager.default.createDirectory(atPath: directory.file("home"), withIntermediateDirectories: true)
    try copy("old", to: "home/vault.coffer")
    let store = try FileStore(at: directory.file("home/vault.coffer"))
    _ = try Vault.acceptRollback(store, with: .throwAway(), anchor: anchors("home/vault.coffer"))
    #expect(code { _ = try open("home/vault.coffer") } == nil)
    try copy("old", to: "vault")
    #expect(code { _ = try open("vault") } == "rolledBack")
    try copy("newest", to: "vault")
    #expect(code { _ = try open("vault") } == nil)
  }

  /// A copy has another history with more generations, and the vault is away for one write to it.
  @Test func aCopyWithAnotherHistoryDoesNotBecomeTheVault() throws {
    try create("vault")
    try copy("vault", to: "copy")
    for number in 0..<9 { try write("copy", "c\(number)") }
    for number in 0..<3 { try write("vault", "v\(number)") }
    try FileManager.default.moveItem(atPath: directory.file("vault"), toPath: directory.file("hidden"))
    try write("copy", "hidden")
    try copy("copy", to: "vault")
    #expect(code { _ = try open("vault") } == "forked")
    try copy("hidden", to: "vault")
    #expect(code { _ = try open("vault") } == nil)
  }

  /// Two names that are equal as strings, and not as paths.
  @Test func pathsAreComparedAsBytes() throws {
    let (one, other) = ("Caf\u{E9}", "Cafe\u{301}")
    try create(one)
    try copy(one, to: other)
    let vault = try Vault.inspect(FileStore(at: directory.file(one))).id
    #expect(try anchors(other).isAnchoredElsewhere(vault) && !anchors(one).isAnchoredElsewhere(vault))
  }

  /// An agent has the vault open, and a copy at another path has been written to meanwhile.
  @Test func aWriterGoesOnWithAnAnchorThatThePathHasGot() throws {
    try create("vault")
    var agent = try open("vault")
    try add(20, "a", to: &agent)
    let vault = try Vault.inspect(FileStore(at: directory.file("vault"))).id
    // As a command leaves it that has taken this path for one of a copy.
    let anchors = try anchors("vault")
    let there = try #require(try anchors.load(vault))
    try Data(there).write(to: URL(filePath: anchors.ownPath(of: vault)))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: anchors.ownPath(of: vault))
    try copy("vault", to: "before")
    try add(40, "b", to: &agent)
    try agent.close()
    try copy("before", to: "vault")
    #expect(code { _ = try open("vault") } == "rolledBack")
  }

  /// A restore was announced and not made. Later writes are not given up for it.
  @Test(arguments: [false, true]) func anIntentOfBeforeAcceptsNothing(isLocked: Bool) throws {
    try create("vault")
    try copy("vault", to: "old")
    let store = try FileStore(at: directory.file("vault"))
    let header = try #require(try store.read { try $0.header(0) })
    let anchors = try anchors("vault")
    let vault = try Vault.inspect(store).id
    let anchor = try #require(try anchors.load(vault))
    try write("vault", "1")
    let lock = isLocked ? try MaintenanceLock(forVaultAt: store.path) : nil
    try anchors.announce(header: header, anchor: anchor)
    try write("vault", "2")
    try copy("old", to: "vault")
    #expect(code { _ = try open("vault") } == "rolledBack")
    withExtendedLifetime(lock) {}
  }

  /// A copy is read while the disk of the vault is away: the anchor stays with the vault.
  @Test func aVaultThatWasMissingGoesOn() throws {
    try create("vault")
    try copy("vault", to: "copy")
    let (vault, away) = (directory.file("vault"), directory.file("away"))
    try FileManager.default.moveItem(atPath: vault, toPath: away)
    try open("copy").close()
    try FileManager.default.moveItem(atPath: away, toPath: vault)
    try copy("vault", to: "old")
    try write("vault", "1")
    #expect(code { _ = try open("vault") } == nil && code { _ = try open("copy") } == "rolledBack")
    try copy("old", to: "vault")
    #expect(code { _ = try open("vault") } == "rolledBack")
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
  @Test func aVaultThatWasMovedAndNotOpenedKeepsItsAnchor() throws {
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
