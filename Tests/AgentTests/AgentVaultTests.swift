import CofferApps
import CofferRequests
import CofferStorage
import CofferTesting
import CofferWire
import Foundation
import SecretMemory
import Synchronization
import Testing
import VaultCore
import VaultUpkeep

@testable import CofferAgent

/// The agent's cache of a vault, and the files that it leaves on the disk.
@Suite(.timeLimit(.minutes(60))) struct AgentVaultTests {
  let bench: AgentBench
  let anchors: AnchorFiles

  init() throws {
    bench = try AgentBench()
    let home = ["COFFER_HOME": bench.directory.path + "/data"]
    anchors = try Places { home[$0] }.anchors(forVaultAt: bench.vault.path)
    try bench.unlock()
  }

  private func add(_ account: String, asks: Bool = false) throws -> Reference {
    var item = Item(service: "s", account: account)
    if asks { item.attributes[Item.confirm] = .integer(0) }
    let call = ItemRequest.add(item, try Secret(testing: "x"), nil, .afterFirstUnlock, installBound: false)
    guard case .reference(let reference, damagedHead: _) = try bench.vault.answer(call, as: { _, _ in .owner }) else {
      throw KeychainError(.agent)
    }
    return reference
  }

  private func anchored() throws -> [UInt8]? {
    try anchors.load(try #require(Identifier(anchors.lastVault() ?? [])))
  }
  private var log: String { bench.vault.path + "-wal" }

  /// An agent that is killed has told the anchor before, so that an older copy is not taken for the newest one.
  @Test func aChangeIsAnchoredAtOnce() throws {
    _ = try add("one")
    let first = try anchored()
    usleep(150_000)
    _ = try add("two")
    #expect(try anchored() != first)
  }

  /// Not each search compares the vault with the anchor, but none does so much later than the one before.
  @Test func searchesCompareTheVaultWithTheAnchor() throws {
    _ = try add("one")
    var wanted = Attributes()
    wanted["service"] = .text("s")
    func found() throws -> Int {
      let answer = try bench.vault.answer(.items(nil, nil, wanted), as: { _, _ in .owner })
      return if case .entries(let found) = answer { found.entries.count } else { 0 }
    }
    #expect(try found() == 1)
    let path = anchors.path(of: try #require(Identifier(anchors.lastVault() ?? [])))
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.write(contentsOf: Data(repeating: 1, count: 96))
    try file.close()
    var error: KeychainError?
    for _ in 0..<6000 where error == nil {
      usleep(10_000)
      do { _ = try found() } catch let found { error = KeychainError(found) }
    }
    #expect(error?.cause == .vault(.anchorDamaged), "\(String(describing: error))")
  }

  /// If changes follow each other closely, the anchor of the last ones is written by the next access.
  @Test func theLastOfManyIsAnchoredLater() throws {
    for number in 0..<5 { _ = try add("\(number)") }
    bench.vault.look()
    let all = try anchored()
    bench.vault.end()
    #expect(try anchored() == all)
  }

  private func limit(idleMinutes: UInt64) throws {
    var limits = Limits()
    try limits.set(.idleMinutes, to: idleMinutes)
    let set = limits
    try bench.vault.use { try $0.transaction { try $0.setLimits(set) } }
  }

  /// The time that the agent was started with counts if it is shorter; the standard one does not count.
  @Test func thePolicySaysWhenItLocks() throws {
    #expect(bench.vault.lock(unusedFor: nil, isChosen: false) == .max)
    try limit(idleMinutes: 60)
    func left(_ milliseconds: Int64?, isChosen: Bool) throws -> Int64 {
      try #require(bench.vault.lock(unusedFor: milliseconds, isChosen: isChosen))
    }
    // 15, 30 and 60 minutes are far enough apart for a slow machine.
    for (milliseconds, isChosen) in [(nil, false), (nil, true), (900_000, false), (7_200_000, true)] as [(Int64?, Bool)] {
      let left = try left(milliseconds, isChosen: isChosen)
      #expect(left > 1_800_000 && left <= 3_600_000, "\(left)")
    }
    #expect(try left(900_000, isChosen: true) <= 900_000)
    try limit(idleMinutes: 0)
    #expect(bench.vault.lock(unusedFor: nil) == .max)
    #expect(try left(900_000, isChosen: false) <= 900_000)
  }

  /// A program that synchronises asks whenever others have changed something.
  @Test func whatIsNoUseKeepsTheVaultFromNoLock() throws {
    let hour: Int64 = 3_600_000
    func answer(isUse: Bool) throws {
      _ = try bench.vault.answer(.contains(AccessGroup("none")), isUse: isUse) { (_, _) in .owner }
    }
    try answer(isUse: true)
    let before = try #require(bench.vault.lock(unusedFor: hour))
    usleep(50_000)
    try answer(isUse: false)
    #expect(try #require(bench.vault.lock(unusedFor: hour)) <= before - 50)
  }

  /// Damage to the policy does not switch off the lock.
  @Test func aPolicyThatCannotBeReadStillLocks() throws {
    try limit(idleMinutes: 60)
    let read = try #require(bench.vault.lock(unusedFor: nil))
    #expect(read > 1_800_000 && read <= 3_600_000)
    try FileStore(at: bench.vault.path).commit { rows in
      var change = Change()
      try rows.forEachRecord(under: []) { id, row in
        let row = try row.get()
        guard let id, row.meta.first == RecordKind.policy.rawValue, let secret = try rows.secret(id) else { return }
        change.records[id] = SealedRecord(
          id: id, group: row.group, meta: row.meta, attributes: row.attributes.map { ~$0 }, secret: secret)
      }
      #expect(change.records.count == 1)
      return change
    }
    #expect(throws: VaultError.self) { try bench.vault.use { _ = try $0.limits() } }
    // The last one that was read.
    let last = try #require(bench.vault.lock(unusedFor: nil))
    #expect(last > 1_800_000 && last <= 3_600_000, "\(last)")
    // None was read since it was unlocked: the standard time.
    try bench.unlock()
    let standard = try #require(bench.vault.lock(unusedFor: nil))
    #expect(standard > 0 && standard <= 900_000, "\(standard)")
    // The keys are here all the same, and requests report the damage themselves.
    #expect(!bench.vault.statusOfNow.isLocked)
  }

  /// A restore closes the vault. One that a request had locked is not opened by the credential of the service afterwards.
  @Test(arguments: [false, true]) func aVaultThatWasLockedStaysSoAfterMaintenance(isLocked: Bool) throws {
    let calls = Mutex(0)
    bench.vault.reopen { calls.withLock { $0 += 1 } }
    if isLocked { bench.vault.lock() }
    try bench.vault.withoutClients(closing: true) {}
    #expect(calls.withLock(\.self) == (isLocked ? 0 : 1))
  }

  /// The owner's sessions end with the keys under which they were proven, also if the agent has not been asked since.
  @Test func newKeysEndTheSessionsOfBefore() throws {
    let before = bench.vault.lockCount
    try bench.unlock()
    #expect(bench.vault.lockCount == before)
    var other = try bench.openVault()
    var renewal = try MasterKeyRenewal(of: other.status())
    try renewal.seal(other.openedSlot, under: try .throwAway(), kdf: .floor)
    try renewal.commit(to: &other)
    try other.close()
    try bench.unlock()
    #expect(bench.vault.lockCount == before + 1)
    // Another file is in its place, from which the vault that is open cannot tell anything.
    try FileManager.default.copyItem(atPath: bench.vault.path, toPath: bench.vault.path + ".copy")
    try FileManager.default.removeItem(atPath: bench.vault.path)
    try FileManager.default.moveItem(atPath: bench.vault.path + ".copy", toPath: bench.vault.path)
    try bench.unlock()
    #expect(bench.vault.lockCount == before + 2)
  }

  /// The state is whether keys are held, whatever has become of the file.
  @Test func aFileThatCannotBeReadLeavesTheState() throws {
    let path = bench.vault.path
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    #expect(throws: (any Error).self) { try bench.vault.use { _ = try $0.generation() } }
    #expect(!bench.vault.statusOfNow.isLocked && !bench.vault.status.isLocked)
    try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
  }

  @Test func anEndedAgentLeavesOnlyTheFile() throws {
    let reference = try add("one")
    #expect(FileManager.default.fileExists(atPath: log))
    bench.vault.end()
    #expect(!FileManager.default.fileExists(atPath: log))
    #expect(bench.vault.status.isLocked && !bench.vault.status.wasUnlocked)
    #expect(try bench.openVault().secret(of: reference).count == 1)
  }

  @Test func aLockedAgentLeavesOnlyTheFileAfterEachAnswer() throws {
    let reference = try add("one")
    bench.vault.lock()
    #expect(!FileManager.default.fileExists(atPath: log))
    _ = try bench.vault.answer(.secret(reference, purpose: ""), as: { _, _ in .owner })
    #expect(!FileManager.default.fileExists(atPath: log))
    _ = try add("two")
    #expect(!FileManager.default.fileExists(atPath: log))
  }

  /// The caller is found out once for a state of the rules: changes of items leave it, those of others do not.
  @Test func aCallerIsIdentifiedOncePerPolicyEpoch() throws {
    let known = CallerCache()
    var found = 0
    func ask() throws {
      let call = ItemRequest.add(
        Item(service: "s", account: UUID().uuidString), try Secret(testing: "x"), nil, .whenUnlocked, installBound: false)
      _ = try bench.vault.answer(call) { (vault, rules) in
        try known.caller(nil, in: vault, at: rules) { _ in
          found += 1
          return .owner
        }
      }
    }
    for _ in 0..<3 { try ask() }
    #expect(found == 1)
    // Whatever another process has written: a grant may be among it.
    var other = try bench.openVault()
    try other.add(Item(service: "o", account: "o"), secret: Secret(testing: "x"), at: .test)
    try ask()
    #expect(found == 2)
    // Another name, or other keys.
    bench.vault.lock()
    #expect(throws: VaultError(.locked)) { try ask() }
    #expect(found == 3)
    try bench.unlock()
    try ask()
    #expect(found == 4)
  }

  @Test func anotherNameIsAnotherCaller() throws {
    let known = CallerCache()
    var found: [ProgramIdentity?] = []
    let vault = try bench.openVault()
    for name: ProgramIdentity? in [nil, .command, .command, .app("a"), .app("b"), .app("b")] {
      _ = try known.caller(name, in: vault, at: 1) { _ in
        found.append(name)
        return .owner
      }
    }
    #expect(found == [nil, .command, .app("a"), .app("b")])
  }

  /// The same vault twice, with one item, in one of which the item asks for its owner: they are of the same generation.
  private func forks() throws -> (silent: MemoryStore, asking: MemoryStore, Reference) {
    let silent = MemoryStore()
    _ = try Vault.create(in: silent, with: .throwAway(), at: .test)
    let asking = silent.copy()
    func add(_ item: Item, to store: MemoryStore) throws -> Reference {
      var vault = try Vault.openThrowAway(store)
      return try vault.add(item, secret: Secret(testing: "x"), at: .test)
    }
    var item = Item(service: "s", account: "a")
    let reference = try add(item, to: silent)
    item.attributes[Item.confirm] = .integer(0)
    #expect(try add(item, to: asking) == reference)
    return (silent, asking, reference)
  }

  @Test func confirmationIsDecidedForEachVault() throws {
    let (silent, asking, reference) = try forks()
    func read() throws {
      _ = try bench.vault.answer(.secret(reference, purpose: ""), as: { _, _ in Caller([.standard]) })
    }
    _ = try bench.vault.put(Vault.openThrowAway(silent))
    try read()
    try read()
    _ = try bench.vault.put(Vault.openThrowAway(asking))
    #expect(throws: KeychainError(.confirmationNeeded)) { try read() }
  }

  @Test func aCallerIsIdentifiedForEachVault() throws {
    let (silent, asking, reference) = try forks()
    let known = CallerCache()
    var found = 0
    func read() throws {
      _ = try bench.vault.answer(.entry(reference)) { (vault, rules) in
        try known.caller(.command, in: vault, at: rules) { _ in
          found += 1
          return .owner
        }
      }
    }
    _ = try bench.vault.put(Vault.openThrowAway(silent))
    try read()
    try read()
    #expect(found == 1)
    _ = try bench.vault.put(Vault.openThrowAway(asking))
    try read()
    #expect(found == 2)
  }
}
