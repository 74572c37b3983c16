import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// A store whose commits fail from one on, as if the process was killed there.
private final class StoppingStore: Store {
  struct Stopped: Error {}

  private let inner: MemoryStore
  /// Commits that are still carried out.
  private var left: Int
  /// Whether the next one is applied, although it fails.
  private let isApplied: Bool
  private(set) var hasStopped = false

  init(_ inner: MemoryStore, after count: Int, isApplied: Bool) { (self.inner, left, self.isApplied) = (inner, count, isApplied) }

  func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result { try inner.read(body) }

  func commit(_ prepare: (any Rows) throws -> Change) throws {
    left -= 1
    guard left < 0 else { return try inner.commit(prepare) }
    if !hasStopped, isApplied { try inner.commit(prepare) }
    hasStopped = true
    throw Stopped()
  }
}

/// A rotation of 1,100 items in two groups that ends at one of its commits, before or after this was applied.
@Suite struct RotationStopTests {
  private static func filled() throws -> MemoryStore {
    let store = MemoryStore()
    let team = try AccessGroup("team")
    var vault = try Vault.throwAway(in: store)
    try vault.createGroup(team, at: .test)
    try vault.transaction { transaction in
      for number in 0..<1100 {
        try transaction.add(
          Item(service: "s", account: "\(number)"), secret: Secret(testing: "secret \(number)"),
          to: number % 8 == 0 ? team : .standard,
          at: .test)
      }
    }
    return store
  }

  /// The names of items that are missing or have another secret, and the problems of the vault.
  private static func faults(_ store: MemoryStore) throws -> [String] {
    let vault = try Vault.openThrowAway(store)
    var faults = try vault.verify().problems.map { "\($0)" }
    for number in 0..<1100 {
      let group = try number % 8 == 0 ? AccessGroup("team") : .standard
      let found = try vault.entryWithSecret(Item(service: "s", account: "\(number)"), in: group)
      guard let found, found.secret.copyIntoUnprotectedBytes() == Array("secret \(number)".utf8) else {
        faults.append("\(number)")
        continue
      }
    }
    return faults
  }

  private static func rotate(_ store: any Store) throws {
    var vault = try Vault.openThrowAway(store)
    var renewal = try MasterKeyRenewal(of: vault.status())
    try renewal.seal(vault.openedSlot, under: try .throwAway(), kdf: .floor)
    try renewal.commit(to: &vault)
    try vault.rekey(vault.groups())
  }

  @Test(arguments: [false, true]) func eachCommitLeavesAWholeVault(isApplied: Bool) throws {
    let before = try Self.filled()
    var count = 0
    while true {
      let store = before.copy()
      let stopping = StoppingStore(store, after: count, isApplied: isApplied)
      do { try Self.rotate(stopping) } catch is StoppingStore.Stopped {}
      guard stopping.hasStopped else { break }
      #expect(try Self.faults(store) == [], "commit \(count)")
      try Self.rotate(store)
      #expect(try Self.faults(store) == [], "the rotation after commit \(count)")
      #expect(try Vault.openThrowAway(store).unfinishedRekeys() == [])
      count += 1
    }
    // One for the master key, one that adds keys, and at least two of 1,000 rows or more; the last one drops keys.
    #expect(count >= 4, "\(count) commits")
  }

  /// The control: an item that is dropped from a copy, or has another secret, is found.
  @Test func aDroppedItemIsFound() throws {
    let store = try Self.filled()
    try Self.rotate(store)
    #expect(try Self.faults(store) == [])
    var vault = try Vault.openThrowAway(store)
    let (dropped, changed) = (
      try #require(try vault.entry(Item(service: "s", account: "7"))),
      try #require(try vault.entry(Item(service: "s", account: "9")))
    )
    try vault.remove(dropped.reference, at: .test)
    try vault.update(changed.reference, secret: Secret(testing: "another"), at: .test)
    #expect(try Self.faults(store) == ["7", "9"])
  }
}
