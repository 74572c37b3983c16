import CofferStorage
import CofferTesting
import Glibc
import SecretMemory
import Testing
import VaultUpkeep

@testable import CofferLifecycle
@testable import VaultCore

/// A store whose records cannot be read.
private final class UnreadableStore: Store, Rows {
  private let inner: MemoryStore
  private let error: StorageError

  init(_ inner: MemoryStore, _ error: StorageError) { (self.inner, self.error) = (inner, error) }

  func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result { try body(self) }
  func commit(_ prepare: (any Rows) throws -> Change) throws { throw error }
  func header(_ key: Int) throws -> [UInt8]? { try inner.header(key) }
  func headerKeys() throws -> [Int64] { try inner.headerKeys() }
  func node(_ prefix: [UInt8]) throws -> [UInt8]? { try inner.node(prefix) }
  func forEachNode(_ body: ([UInt8]) throws -> Void) throws { throw error }
  func record(_ id: Identifier) throws -> RecordHead? { throw error }
  func secret(_ id: Identifier) throws -> [UInt8]? { throw error }
  func forEachRecord(under prefix: [UInt8], _ body: (Identifier?, Result<RecordHead, VaultError>) throws -> Void) throws {
    throw error
  }
}

/// The steps of a rotation of the device key, and programs that open the vault between two of them.
@Suite struct DeviceKeyStepsTests {
  let fixture = Fixture()
  let store = MemoryStore()

  private func files() throws -> DeviceKeyFiles {
    Places(in: fixture.directory).deviceKeys(of: try Vault.inspect(store).id)
  }

  private func isNextThere() throws -> Bool { try unsafe access(files().next.path, F_OK) == 0 }

  /// - Parameter count: Items of this device.
  private func makeVault(items count: Int) throws {
    var vault = try Vault.throwAway(in: store)
    try files().open(vault, making: true)
    for number in 0..<count { try add("\(number)", to: &vault) }
  }

  private func open() throws -> Vault {
    let vault = try Vault.openThrowAway(store)
    try files().open(vault)
    return vault
  }

  private func add(_ account: String, to vault: inout Vault) throws {
    try vault.add(
      Item(service: "s", account: account), secret: Secret(testing: account), accessible: .whenUnlockedThisDevice, at: .test)
  }

  private func commit(_ vault: inout Vault) throws {
    var renewal = try MasterKeyRenewal(of: vault.status())
    try renewal.seal(vault.openedSlot, under: .throwAway(), kdf: .floor)
    try renewal.commit(to: &vault, deviceKey: files().next.load())
  }

  private func expectAllOpen(_ count: Int, _ place: SourceLocation = #_sourceLocation) throws {
    let result = try open().verify()
    #expect(result.isSound && result.unavailableCount == 0, "\(result)", sourceLocation: place)
    let found = try open().entries().entries.count
    #expect(found == count, sourceLocation: place)
  }

  /// The vault has no item of this device, and still shows which key is in force: what is written before the rename is not lost.
  @Test(arguments: [0, 2]) func aWriterBetweenTheCommitAndTheRenameUsesTheNewKey(items: Int) throws {
    try makeVault(items: items)
    var rotating = try open()
    try files().prepareNext(for: &rotating)
    try commit(&rotating)
    var writer = try open()
    try add("late", to: &writer)
    try files().takeNext()
    try expectAllOpen(items + 1)
  }

  /// The rotation has ended after its commit. Each rotation puts the key in its place; other programs leave it where it is.
  @Test(arguments: [0, 2]) func aKeyInForceIsPutInItsPlace(items: Int) throws {
    try makeVault(items: items)
    var rotating = try open()
    try files().prepareNext(for: &rotating)
    try commit(&rotating)
    var writer = try open()
    try add("late", to: &writer)
    #expect(try isNextThere())
    try files().settle(for: writer)
    #expect(try !isNextThere())
    try expectAllOpen(items + 1)
  }

  /// The rotation has ended before its commit.
  @Test(arguments: [0, 2]) func aKeyThatIsNotInForceStaysWhereItIs(items: Int) throws {
    try makeVault(items: items)
    var rotating = try open()
    try files().prepareNext(for: &rotating)
    var writer = try open()
    try add("late", to: &writer)
    try files().settle(for: writer)
    #expect(try isNextThere())
    try expectAllOpen(items + 1)
    // The commit of a rotation that was only slow.
    try commit(&rotating)
    do {
      try add("later", to: &writer)
      Issue.record("a program with the device key of before goes on")
    } catch VaultError.Code.masterKeyChanged {}
    try files().takeNext()
    try expectAllOpen(items + 1)
  }

  /// Damage hides which key is in force, and the vault opens all the same: it is to be repaired.
  @Test func aDamagedVaultOpens() throws {
    try makeVault(items: 1)
    var rotating = try open()
    try files().prepareNext(for: &rotating)
    for prefix in store.nodes.keys { store.nodes[prefix]?[40] ^= 1 }
    let vault = try open()
    #expect(try !vault.verify().isSound)
  }

  /// Damage of one group says nothing about the device: a box of another group shows which key is in force.
  @Test func aDamagedGroupDoesNotHideTheKeyInForce() throws {
    try makeVault(items: 1)
    var rotating = try open()
    let team = try AccessGroup("team")
    try rotating.createGroup(team, at: .test)
    try files().prepareNext(for: &rotating)
    try commit(&rotating)
    let record = try rotating.reading { state, _ in try state.keys.groupRecordID(team) }
    let row = try #require(store.records[record])
    store.records[record] = SealedRecord(
      id: record, group: row.group, meta: row.meta, attributes: Array(row.attributes.reversed()), secret: row.secret)
    let result = try open().verify()
    #expect(result.problemCount == 1 && result.unavailableCount == 0, "\(result)")
  }

  /// A file that is damaged below the format says nothing either. One that cannot be read at the moment may be read later.
  @Test(arguments: [StorageError.Code.storageDamaged, .io]) func aFileThatCannotBeReadOpensIfItIsDamaged(
    code: StorageError.Code
  ) throws {
    try makeVault(items: 1)
    var rotating = try open()
    try files().prepareNext(for: &rotating)
    let vault = try Vault.openThrowAway(UnreadableStore(store, StorageError(code)))
    if code == .io {
      #expect(throws: StorageError(.io)) { try files().open(vault) }
    } else {
      #expect(try files().open(vault))
    }
  }

  /// A rotation that is repeated finds the box of the one before.
  @Test func aBoxOfDefaultIsMadeOnce() throws {
    try makeVault(items: 0)
    var vault = try open()
    for _ in 0..<2 { try files().prepareNext(for: &vault) }
    let names = try vault.reading { state, _ in try GroupDirectory(state).all.flatMap(\.keyNames) }
    #expect(names.count { $0.accessibility == .whenUnlockedThisDevice } == 1)
  }

  /// A backup opens with the key that opens a box of it, also if its vault has another one by now.
  @Test func aBackupFindsItsKey() throws {
    var vault = try Vault.throwAway(in: store)
    let files = try files()
    try files.shared.createUnlessThere()
    try files.open(vault)
    try add("a", to: &vault)
    let path = "\(fixture.directory)/backup"
    let copy = try FileStore.create(at: path)
    try copy.commit { _ in
      var change = Change()
      for (key, value) in store.header { change.header[key] = value }
      for (prefix, body) in store.nodes { change.nodes[prefix] = body }
      for (id, record) in store.records { change.records[id] = record }
      return change
    }
    try files.prepareNext(for: &vault)
    try commit(&vault)
    for isSettled in [false, true] {
      if isSettled { try files.takeNext() }
      let backup = try RestoredVault(opening: copy, with: .throwAway())
      try files.open(backup, in: copy)
      let result = try copy.read { try backup.verify($0) }
      #expect(result.isSound && result.unavailableCount == 0)
      try expectAllOpen(1)
    }
  }
}
