import CofferRequests
import CofferStorage
import CofferTesting
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

/// A program in a vault of the system's: it removes items, and ends no value.
@Suite struct KeptVersionsTests {
  private let store = MemoryStore()
  private let program = Caller([.standard]).keepingVersions()

  private func vault(_ limits: [Limits.Name: UInt64] = [:]) throws -> Vault {
    var vault = try Vault.throwAway(in: store)
    var set = try vault.limits()
    for (name, value) in limits { try set.set(name, to: value) }
    let changed = set
    try vault.transaction { try $0.setLimits(changed) }
    return vault
  }

  private static func add(_ values: [String], to vault: inout Vault, _ item: Item = Item(service: "s", account: "a")) throws
    -> Reference
  {
    let reference = try vault.add(item, secret: Secret(testing: values[0]), at: .test)
    for value in values.dropFirst() { try vault.update(reference, secret: Secret(testing: value), at: .test) }
    return reference
  }

  private func code(
    _ request: consuming ItemRequest, as caller: Caller, in vault: inout Vault
  ) -> KeychainError.Code? {
    do {
      _ = try ItemService(caller, at: .test).carryOut(request, in: &vault)
      return nil
    } catch { return KeychainError(error).code }
  }

  private func refusal(_ request: consuming ItemRequest, in vault: inout Vault) -> KeychainError.Code? {
    let generation = vault.lastGeneration
    let code = code(request, as: program, in: &vault)
    #expect(vault.lastGeneration == generation)
    return code
  }

  @Test func itPurgesNothingThatIsKept() throws {
    var vault = try vault()
    let ada = try Self.add(["one", "two", "three"], to: &vault)
    let number = try #require(try vault.history(of: ada).former.first).number
    for scope in [.version(number), .former, .item] as [ItemRequest.PurgeScope] {
      #expect(refusal(.purge(ada, scope), in: &vault) == .missingEntitlement)
    }
    #expect(code(.remove(ada), as: program, in: &vault) == nil)
    #expect(refusal(.purge(ada, .former), in: &vault) == .missingEntitlement)
    #expect(refusal(.purgeExpired(nil, removed: true), in: &vault) == .missingEntitlement)
    #expect(code(.purgeExpired(nil, removed: false), as: program, in: &vault) == nil)
    let history = try vault.history(of: ada)
    #expect(history.removed != nil && history.former.count == 2)
    #expect(code(.purgeExpired(nil, removed: true), as: Caller.owner.keepingVersions(), in: &vault) == nil)
    #expect(throws: VaultError(.notFound)) { _ = try vault.history(of: ada) }
  }

  @Test(arguments: [Limits.Name.historyVersions, .historyDays]) func whatThePolicyEndsIsGone(_ name: Limits.Name) throws {
    var vault = try vault([name: 0])
    let ada = try Self.add(["one"], to: &vault)
    #expect(code(.remove(ada), as: program, in: &vault) == nil)
    #expect(throws: VaultError(.notFound)) { _ = try vault.history(of: ada) }
  }

  /// A full disk, which a program can fill, ends nothing.
  @Test(arguments: [false, true]) func aFullDiskEndsNothing(_ mustKeep: Bool) throws {
    var vault = try vault()
    let item = Item(service: "s", account: "a")
    let ada = try Self.add(["one", "two"], to: &vault)
    store.nextCommitError = StorageError(.full)
    #expect(refusal(.remove(ada, mustKeep: mustKeep), in: &vault) == .missingEntitlement)
    store.nextCommitError = StorageError(.full)
    #expect(refusal(.discard(item, .standard, mustKeep: mustKeep), in: &vault) == .missingEntitlement)
    #expect(try vault.history(of: ada).former.count == 1)
    // Elsewhere, and for the owner, an item can be removed then.
    store.nextCommitError = StorageError(.full)
    let expected: KeychainError.Code? = mustKeep ? .notAllowed : nil
    #expect(code(.remove(ada, mustKeep: mustKeep), as: mustKeep ? .owner : Caller([.standard]), in: &vault) == expected)
  }

  /// An item that does not open cannot be kept, and its former versions would go with it.
  @Test func whatDoesNotOpenStays() throws {
    var vault = try vault()
    let item = Item(service: "s", account: "a")
    let ada = try Self.add(["one", "two"], to: &vault)
    let row = try #require(store.records[ada.id])
    store.records[ada.id] = SealedRecord(row.head, secret: [row.secret[0] ^ 1] + row.secret.dropFirst())
    #expect(refusal(.discard(item, .standard), in: &vault) == .missingEntitlement)
    #expect(code(.discard(item, .standard), as: .owner, in: &vault) == nil)
  }

  /// The row lists the former versions, and attributes that fill it would push them out.
  @Test func attributesLeaveRoomForVersions() throws {
    var vault = try vault([.historyVersions: UInt64(FormerVersion.maximumCount)])
    let values = (0...FormerVersion.maximumCount).map { "\($0)" }
    let ada = try Self.add(values, to: &vault)
    #expect(try vault.history(of: ada).former.count == FormerVersion.maximumCount)
    func item(_ room: Int, _ account: String = "a") throws -> Item {
      var item = Item(service: "s", account: account)
      while item.encoded.count < Padding.maximumCount - 65_600 - room {
        item["user.\(1000 + item.attributes.count)"] = String(repeating: "x", count: 65_536 - 16)
      }
      item["user.last"] = String(repeating: "x", count: Padding.maximumCount - room - item.encoded.count - 16)
      return item
    }
    // The times of a change take some bytes of their own.
    let (large, largest) = (try item(200), try item(4096 + 200))
    let generation = try vault.entry(ada).generation
    let same = { (item: Item) in ItemRequest.update(ada, generation: generation, item, nil, nil) }
    #expect(refusal(same(large), in: &vault) == .notAllowed)
    #expect(refusal(.move(ada, generation: generation, large, .standard), in: &vault) == .notAllowed)
    let other = try item(200, "b")
    #expect(
      refusal(.add(other, try Secret(testing: "x"), nil, .afterFirstUnlock, installBound: false), in: &vault) == .notAllowed)
    #expect(code(same(largest), as: program, in: &vault) == nil)
    #expect(try vault.history(of: ada).former.count == FormerVersion.maximumCount)
    // The owner's pushes them out.
    let now = try vault.entry(ada).generation
    #expect(code(.update(ada, generation: now, large, nil, nil), as: .owner, in: &vault) == nil)
    #expect(try vault.history(of: ada).former.count < 10)
  }
}
