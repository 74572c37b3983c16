import Children
import CofferFiles
import CofferStorage
import CofferTesting
import Glibc
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@testable import CofferLifecycle

/// A rotation step by step: what others find meanwhile, and what ends it before anything is changed.
@Suite struct RotationStepTests {
  private let fixture = Fixture()

  private struct Declined: Error {}

  private func rotate(
    _ party: Party, at seconds: Int64 = 0, _ change: (inout RotationOrder) -> Void = { _ in }
  ) throws -> RotationOutcome { try fixture.rotate(party, at: seconds, change) }

  private func masterEpoch() throws -> UInt32 { try Vault.inspect(FileStore(at: fixture.path)).masterEpoch }

  private func expectMasterEpoch(_ epoch: UInt32) throws { #expect(try masterEpoch() == epoch) }

  /// The agent refuses its clients there. All that takes longer is done before it, or after.
  @Test func otherProgramsAreKeptOutDuringTheCommitOfTheMasterKeyAlone() throws {
    try fixture.makeVault()
    let party = Party()
    party.prepared = { try expectMasterEpoch(1) }
    party.beforeCommit = { try expectMasterEpoch(1) }
    party.afterCommit = { try expectMasterEpoch(2) }
    #expect(try rotate(party).masterEpoch == 2)
    #expect(party.commitCount == 1 && party.parts == ["checking", "copying", "re-key", "checking"])
    // New keys of a group alone keep nobody out.
    let other = Party()
    _ = try rotate(other, at: 60) { $0.groups = [.standard] }
    #expect(other.commitCount == 0 && other.parts == ["checking", "copying", "re-key", "checking"])
  }

  /// It is one commit, as any other backup, and opens with the new credential. Rows of it may be under old keys until the last commit.
  @Test(arguments: [true, false]) func aBackupThatIsMadeMeanwhileProves(prunes: Bool) throws {
    try fixture.makeVault(items: 1200)
    let party = Party()
    var made: [String] = []
    party.stepped = { part in
      guard part.hasPrefix("re-key") else { return }
      let path = try #require(try fixture.backup(at: 60).path)
      made.append(path)
      #expect(try fixture.open(path).verify().isSound)
    }
    var last: String?
    party.began = { part in
      guard part == "checking", !made.isEmpty else { return }
      last = try fixture.backup(at: 600).path
    }
    let outcome = try rotate(party) { $0.prunesBackups = prunes }
    // The last one is made after the commit with which the old keys go, and is equal to that of the check.
    #expect(made.count > 1)
    for path in made.dropLast() { #expect((prunes ? outcome.removed : outcome.left).contains(path), "\(path)") }
    // With new keys alone.
    #expect(last.map(outcome.left.contains) ?? false)
    #expect(fixture.backups.paths == outcome.left)
  }

  /// Another vault was at the path before, and has left a backup.
  @Test func backupsOfAnotherVaultStay() throws {
    try fixture.makeVault()
    let other = try #require(try fixture.backup().path)
    run("rm", fixture.path, "\(fixture.path).lock")
    try fixture.makeVault()
    let own = try #require(try fixture.backup(at: 60).path)
    let outcome = try rotate(Party(), at: 120) { $0.prunesBackups = true }
    #expect(outcome.left == [other] && outcome.removed.contains(own) && outcome.removed.count == 2)
  }

  /// The backup opens with a credential that others know.
  @Test(arguments: [true, false]) func theBackupOfALeakedCredentialGoes(keeps: Bool) throws {
    try fixture.makeVault()
    let outcome = try rotate(Party()) { ($0.isLeaked, $0.keepsBackup) = (true, keeps) }
    #expect(outcome.left.count == (keeps ? 1 : 0) && outcome.removed.count == (keeps ? 0 : 1))
  }

  /// The backup of the rotation is named before the others are, and stays if it is to.
  @Test func theBackupOfTheRotationStaysIfItIsKept() throws {
    try fixture.makeVault()
    let old = try #require(try fixture.backup().path)
    let outcome = try rotate(Party(), at: 60) { ($0.prunesBackups, $0.keepsBackup) = (true, true) }
    #expect(outcome.removed == [old] && outcome.left.count == 1)
  }

  /// A reader that began before keeps the log, in which rows under old keys lie.
  @Test func aLogThatIsReadIsReported() throws {
    try fixture.makeVault(items: 600)
    #expect(try rotate(Party()).restsReason == nil)
    let reader = try FileStore(at: fixture.path)
    let outcome = try reader.read { _ in try rotate(Party(), at: 60) }
    #expect(outcome.restsReason == .busy)
  }

  /// A file under two names is not written any more. By then all rows are under new keys, and the rotation ends as one that succeeded.
  @Test func aFileThatCannotBeRebuiltIsReported() throws {
    try fixture.makeVault(items: 600)
    let party = Party()
    party.began = { part in
      guard part == "checking", party.commitCount == 1 else { return }
      run("ln", fixture.path, "\(fixture.path).second")
    }
    let outcome = try rotate(party)
    #expect(outcome.restsReason == .hardLink && outcome.masterEpoch == 2)
    run("rm", "\(fixture.path).second")
    #expect(try fixture.open().verify().isSound && fixture.open().unfinishedRekeys() == [])
    #expect(try rotate(Party(), at: 60).restsReason == nil)
  }

  /// A writer that does not end: all rows are under new keys by then, and the rotation ends as one that succeeded.
  @Test func aWriterThatDoesNotEndIsReported() throws {
    try fixture.makeVault()
    let party = Party()
    var lock: Int32 = -1
    party.atTheEnd {
      lock = unsafe open("\(fixture.path).lock", O_RDWR)
      // The turnstile of `SideLock`.
      if case .taken = FileLock(on: lock, byte: 0).attempt() { return }
      Issue.record("the lock of writers is not free")
    }
    let outcome = try rotate(party)
    close(lock)
    #expect(outcome.restsReason == .busy && outcome.masterEpoch == 2)
    #expect(try rotate(Party(), at: 60).restsReason == nil)
  }

  // MARK: Before anything is changed

  private func expectUnchanged(_ body: () throws -> Void) throws {
    let before = try Vault.inspect(FileStore(at: fixture.path))
    try body()
    let after = try Vault.inspect(FileStore(at: fixture.path))
    #expect(after.masterEpoch == 1 && after.generation == before.generation)
    #expect(try fixture.open().verify().isSound)
  }

  @Test func nothingIsDoneUntilThePlanIsAgreedTo() throws {
    try fixture.makeVault()
    let party = Party()
    // The lock is free while a person thinks.
    party.agreed = {
      _ = try MaintenanceLock(forVaultAt: fixture.path)
      throw Declined()
    }
    try expectUnchanged { #expect(throws: Declined.self) { _ = try rotate(party) } }
    #expect(party.askedCount == 0 && party.parts == ["checking"] && fixture.backups.paths == [])
  }

  @Test func aCredentialThatDoesNotFitIsAskedForThreeTimes() throws {
    try fixture.makeVault()
    let party = Party()
    party.credential = { try .derived(.random(count: 32), .passphrase, salt: [UInt8](repeating: 1, count: 16)) }
    try expectUnchanged { #expect(throws: LifecycleError(.otherCredential)) { _ = try rotate(party) } }
    #expect(party.askedCount == 3 && fixture.backups.paths == [])
  }

  @Test func theSlotThatOpenedTheVaultIsNotDropped() throws {
    try fixture.makeVault()
    try expectUnchanged {
      #expect(throws: LifecycleError(.openedSlotDropped)) { _ = try rotate(Party()) { $0.droppedSlots = [1] } }
    }
    #expect(fixture.backups.paths == [])
  }

  @Test func aGroupThatIsNotThereIsNamed() throws {
    try fixture.makeVault()
    let party = Party()
    party.agreed = { Issue.record("it was planned") }
    let none = try AccessGroup("none")
    try expectUnchanged { #expect(throws: VaultError(.groupNotFound)) { _ = try rotate(party) { $0.groups = [none] } } }
  }

  /// The slots of the new master key were sealed for the slots of before.
  @Test func aSlotThatIsAddedMeanwhileEndsIt() throws {
    try fixture.makeVault()
    let party = Party()
    party.prepared = {
      var other = try fixture.open()
      _ = try other.addSlot(.keyFile(Secret(testing: [UInt8](repeating: 1, count: 64))), kdf: .floor)
    }
    #expect(throws: LifecycleError(.changedMeanwhile)) { _ = try rotate(party) }
    #expect(try masterEpoch() == 1 && Vault.inspect(FileStore(at: fixture.path)).slots.count == 2)
    #expect(party.parts == ["checking", "copying"])
  }

  /// Each group that is there in the commit of the master key gets new keys: a holder of the old ones may have changed the names meanwhile.
  @Test func groupsThatAreMadeOrRenamedMeanwhileGetNewKeys() throws {
    try fixture.makeVault()
    let (work, other, late) = (try AccessGroup("work"), try AccessGroup("work-2"), try AccessGroup("late"))
    let gone = try AccessGroup("gone")
    var vault = try fixture.open()
    for group in [work, gone] { try vault.createGroup(group, at: .test) }
    try vault.close()
    let party = Party()
    party.prepared = {
      var vault = try fixture.open()
      try vault.renameGroup(work, to: other)
      for group in [work, late] { try vault.createGroup(group, at: .test) }
      try vault.removeGroup(gone, withItems: false)
    }
    #expect(try rotate(party).groupCount == 4)
    let opened = try fixture.open()
    let names = try opened.reading { state, _ in try GroupDirectory(state).all.flatMap(\.keyNames) }
    #expect(names.allSatisfy { $0.epoch == 2 } && names.count == 8, "\(names)")
    #expect(try opened.verify().isSound && opened.unfinishedRekeys() == [])
  }

  /// Another program has made an item with a name that this one refuses: a leaked passphrase must not be enough to keep its owner from new
  /// keys, or from a restore.
  @Test func anItemWithANameThatWritersRefuseIsNoDamage() throws {
    try fixture.makeVault()
    var vault = try fixture.open()
    let group = try vault.reading { state, _ in try #require(GroupDirectory(state).all.first) }
    let item = Item(service: "a\nb", account: "a")
    let id = group.itemID(item)
    try vault.transaction { transaction in
      let meta = RecordMeta(kind: .item, accessibility: .whenUnlocked, epoch: 1, version: transaction.generation)
      let seal = RecordSeal(vault: transaction.keys.vault, id: id, group: group.groupID, meta: meta)
      try transaction.edit(
        id,
        seal.seal(
          attributes: item.encoded, secret: Secret(testing: "x"), with: group.key(.whenUnlocked, epoch: 1, keys: transaction.keys)
        ))
    }
    try vault.close()
    #expect(try rotate(Party()).masterEpoch == 2)
    let result = try fixture.open().verify()
    #expect(!result.isSound && result.isIntact)
    run("sqlite3", fixture.path, "UPDATE rec SET a=zeroblob(length(a)) WHERE id=(SELECT max(id) FROM rec WHERE id<x'80')")
    #expect(throws: DamagedVault.self) { _ = try rotate(Party()) }
  }

  /// A second operation on the whole vault is refused, and the rotation goes on.
  @Test func oneOperationOnTheWholeVaultAtATime() throws {
    try fixture.makeVault()
    let party = Party()
    party.began = { part in
      guard party.parts.count > 2 else { return }
      let isHeld = try MaintenanceLock.isHeld(forVaultAt: fixture.path)
      #expect(isHeld, "\(part)")
      #expect(throws: StorageError(.maintenance), "\(part)") { _ = try rotate(Party()) }
    }
    #expect(try rotate(party).masterEpoch == 2)
    #expect(try !MaintenanceLock.isHeld(forVaultAt: fixture.path))
    // Those that were refused have made no backup.
    #expect(fixture.backups.paths.count == 1)
  }

  /// A recovery key is written down, and asked back, while others may repair the vault. The rotation is refused then, and changes nothing.
  @Test func theLockIsFreeWhileAKeyIsWrittenDown() throws {
    try fixture.makeVault()
    let party = Party()
    var lock: MaintenanceLock?
    party.prepared = { lock = try MaintenanceLock(forVaultAt: fixture.path) }
    try expectUnchanged { #expect(throws: StorageError(.maintenance)) { _ = try rotate(party) } }
    #expect(lock != nil && party.commitCount == 0)
  }

  /// A person or a signal ends it between two commits: those that are made stay, and the next rotation takes the unfinished groups.
  @Test func theNextRotationTakesTheUnfinishedGroups() throws {
    try fixture.makeVault(items: 1200)
    var vault = try fixture.open()
    try vault.createGroup(AccessGroup("a-team"), at: .test)
    try vault.close()
    let party = Party()
    party.stepped = { part in if part == "re-key" { throw Declined() } }
    #expect(throws: Declined.self) { _ = try rotate(party) }
    #expect(try fixture.open().unfinishedRekeys().map(\.group) == [AccessGroup("a-team"), .standard])
    #expect(try fixture.open().verify().isSound)
    let next = Party()
    _ = try rotate(next, at: 60) { $0.isMasterOnly = true }
    #expect(next.parts == ["checking", "copying", "re-key", "checking"])
    #expect(try fixture.open().unfinishedRekeys() == [])
  }
}
