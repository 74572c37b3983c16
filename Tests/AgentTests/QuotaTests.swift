import AccessRights
import CofferRequests
import CofferStorage
import CofferTesting
import CofferWire
import Foundation
import SecretMemory
import SystemBench
import Testing
import VaultCore
import VaultUpkeep

@testable import CofferAgent

/// The quota of programs in a vault of the system agent.
@Suite(.timeLimit(.minutes(60))) struct QuotaTests {
  private let vault: AgentVault
  private let directory: URL
  private let program: Caller
  private let other: Caller

  init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "coffer-quota-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let path = directory.path + "/vault.coffer"
    try Vault.create(in: FileStore.create(at: path), with: .throwAway(), at: .test).close()
    vault = AgentVault(
      at: path, quota: ProgramQuota.Limits(itemCount: 4, byteCount: 100_000), inspect: { try Vault.inspect(FileStore(at: path)) },
      open: { try Vault.open(FileStore(at: path), with: $0) })
    try vault.unlock(.throwAway())
    program = Caller([try AccessGroup("one"), try AccessGroup("shared")])
    other = Caller([try AccessGroup("two")])
  }

  private func answer(_ call: consuming ItemRequest, as caller: Caller, byteCount: Int = 1) throws -> Reference? {
    try vault.answer(call, byteCount: byteCount, as: { _, _ in caller }, confirm: { _, _ in }).newReference
  }

  @discardableResult
  private func add(_ account: String, to group: String, as caller: Caller, byteCount: Int = 1) throws -> Reference {
    let secret = try Secret(testing: String(repeating: "x", count: byteCount))
    let call = ItemRequest.add(
      Item(service: "s", account: account), secret, try AccessGroup(group), .afterFirstUnlock, installBound: false)
    return try #require(try answer(call, as: caller, byteCount: byteCount))
  }

  @Test func aProgramAddsSoManyItems() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let first = try add("1", to: "one", as: program)
    for number in 2...4 { try add("\(number)", to: number == 4 ? "shared" : "one", as: program) }
    for group in ["one", "shared"] {
      #expect(throws: KeychainError(.quotaExceeded)) { try add("5", to: group, as: program) }
    }
    // Existing items may be changed, another program has a limit of its own, and the owner has none.
    let entry = try vault.use { try $0.entry(first) }
    _ = try answer(
      .update(first, generation: entry.generation, entry.item, try Secret(testing: "new"), nil), as: program)
    try add("1", to: "two", as: other)
    for number in 5...8 { try add("\(number)", to: "one", as: .owner) }
    // Also what others have put there counts.
    for number in 5...8 {
      #expect(throws: KeychainError(.quotaExceeded)) { try add("9", to: "shared", as: program) }
      let item = Item(service: "s", account: "\(number)")
      _ = try answer(.discard(item, try AccessGroup("one")), as: program)
    }
    #expect(throws: KeychainError(.quotaExceeded)) { try add("9", to: "shared", as: program) }
    _ = try answer(.remove(first), as: program)
    try add("9", to: "shared", as: program)
    // A removed item comes back as one more.
    #expect(throws: KeychainError(.quotaExceeded)) { _ = try answer(.restore(first, nil), as: program) }
    _ = try answer(.discard(Item(service: "s", account: "9"), try AccessGroup("shared")), as: program)
    #expect(try answer(.restore(first, nil), as: program) == first)
    #expect(try answer(.restore(first, nil), as: program) == first)
  }

  @Test func itemsOfOneRequestCountOneByOne() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    func addAll(_ accounts: [String], as caller: Caller) throws {
      let secrets = try Secret(testing: String(repeating: "x", count: accounts.count))
      let made = NewItems(accounts.map { Item(service: "s", account: $0) }, accounts.map { _ in 1 }, secrets: secrets)
      let new = try #require(made)
      _ = try answer(.addAll(new, try AccessGroup("one"), .afterFirstUnlock), as: caller)
    }
    func count() throws -> Int { try vault.use { try $0.entries(in: AccessGroup("one")).entries.count } }
    #expect(throws: VaultError(.missingEntitlement)) { try addAll(["1", "2"], as: other) }
    try addAll(["1", "2"], as: program)
    #expect(throws: KeychainError(.quotaExceeded)) { try addAll(["3", "4", "5"], as: program) }
    // One that is there already leaves none of the others.
    #expect(throws: VaultError(.duplicate)) { try addAll(["3", "1"], as: program) }
    #expect(try count() == 2)
    try addAll(["3", "4"], as: program)
    #expect(throws: KeychainError(.quotaExceeded)) { try addAll(["5"], as: program) }
    #expect(try count() == 4)
    try addAll(["5", "6", "7"], as: .owner)
  }

  /// A former version takes as much room as the item did, also after the item is removed. It ends with a purge alone.
  @Test func formerVersionsCountByTheirBytes() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let first = try add("1", to: "one", as: program, byteCount: 20_000)
    func update(_ text: String) throws {
      let entry = try vault.use { try $0.entry(first) }
      let secret = try Secret(testing: String(repeating: text, count: 20_000))
      _ = try answer(.update(first, generation: entry.generation, entry.item, secret, nil), as: program, byteCount: 20_000)
    }
    for text in ["a", "b", "c"] { try update(text) }
    for _ in 0..<2 { #expect(throws: KeychainError(.quotaExceeded)) { try update("d") } }
    let version = try #require(try vault.use { try $0.history(of: first).former.first }).number
    // The version that comes back takes room beside those that stay.
    _ = try answer(.restore(first, version), as: program)
    #expect(throws: KeychainError(.quotaExceeded)) { try add("2", to: "one", as: program, byteCount: 20_000) }
    _ = try answer(.remove(first), as: program)
    #expect(throws: KeychainError(.quotaExceeded)) { try add("2", to: "one", as: program, byteCount: 20_000) }
    #expect(throws: KeychainError(.quotaExceeded)) { try add("2", to: "shared", as: program, byteCount: 20_000) }
    try add("2", to: "two", as: other, byteCount: 20_000)
    _ = try answer(.purge(first, .former), as: program)
    try add("2", to: "one", as: program, byteCount: 20_000)
  }

  /// As often as it likes, a program replaces and removes small values: what it leaves stays within the limit.
  @Test func noSequenceOfRequestsExceedsTheBytes() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let group = try AccessGroup("one")
    var refusals = 0
    for number in 0..<300 {
      do {
        let reference = try add("\(number)", to: "one", as: program, byteCount: 300)
        let entry = try vault.use { try $0.entry(reference) }
        let secret = try Secret(testing: String(repeating: "y", count: 301))
        _ = try answer(.update(reference, generation: entry.generation, entry.item, secret, nil), as: program, byteCount: 301)
        _ = try answer(.remove(reference), as: program)
      } catch KeychainError.Code.quotaExceeded {
        refusals += 1
      }
    }
    let byteCount = try vault.use { try $0.entries(in: group).byteCount + $0.formerByteCount(in: group) }
    #expect(refusals > 0 && (80_000...100_000 + 2_000).contains(byteCount), "\(refusals) \(byteCount)")
  }

  /// It has the same generation as the one before, so that the number alone does not distinguish the two.
  @Test func countsOfAnotherFileAreForgotten() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    try add("1", to: "one", as: program)
    var second = try Vault.create(in: FileStore.create(at: directory.path + "/second.coffer"), with: .throwAway(), at: .test)
    try second.transaction { transaction in
      try transaction.createGroup(AccessGroup("one"), at: .test)
      for number in 1...4 {
        let item = Item(service: "s", account: "\(number)")
        try transaction.add(item, secret: Secret(testing: "x"), to: AccessGroup("one"), at: .test)
      }
    }
    #expect(try second.lastGeneration == vault.use { $0.lastGeneration })
    _ = try vault.put(second)
    #expect(throws: KeychainError(.quotaExceeded)) { try add("5", to: "one", as: program) }
  }

  @Test func aProgramAddsSoManyBytes() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let first = try add("1", to: "one", as: program, byteCount: 60_000)
    #expect(throws: KeychainError(.quotaExceeded)) { try add("2", to: "one", as: program, byteCount: 60_000) }
    let entry = try vault.use { try $0.entry(first) }
    #expect(throws: KeychainError(.quotaExceeded)) {
      _ = try answer(
        .update(first, generation: entry.generation, entry.item, try Secret(testing: String(repeating: "y", count: 60_000)), nil),
        as: program, byteCount: 60_000)
    }
    try add("2", to: "one", as: program, byteCount: 20_000)
    try add("3", to: "one", as: .owner, byteCount: 200_000)
    #expect(throws: KeychainError(.quotaExceeded)) { try add("4", to: "one", as: program) }
  }

  /// The agent of the system has the limit, and its owner does not.
  @Test(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason)))
  func theAgentOfTheSystemHasIt() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let bench = try SystemBench()
    #expect(try bench.coffer("vault", "init", "--low-memory", "--passphrase-fd", "0", input: "correct horse\n").status == 0)
    let filled = try bench.run(
      "/bin/sh",
      [
        "-c",
        """
        umask 077; cd \(bench.home.path); head -c 1000000 /dev/zero >large; printf 'correct horse' >passphrase
        for number in $(seq 80); do
          coffer secret set "large/$number" <large 2>errors || { echo "$number $?"; cat errors; break; }
        done
        coffer secret set large/owner --passphrase-fd 3 3<passphrase <large && echo "owner $?"
        """,
      ])
    let lines = filled.lines
    let number = try #require(lines.first?.split(separator: " ").first.flatMap { Int($0) }, "\(filled)")
    #expect((60...68).contains(number) && lines[0].hasSuffix(" 6") && lines.last == "owner 0", "\(lines)")
    #expect(lines.contains { $0.contains("programs may add no more to this vault") }, "\(lines)")
  }
}
