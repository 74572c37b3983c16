import AccessRights
import CofferRequests
import CofferStorage
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferAgent

/// Searches of the agent, which opens only items that may match.
@Suite(.timeLimit(.minutes(60))) struct ItemIndexTests {
  let bench: AgentBench

  init() throws {
    bench = try AgentBench()
    try bench.unlock()
  }

  private func answer(_ request: consuming ItemRequest) throws -> Answer {
    try bench.vault.answer(request, as: { _, _ in .owner })
  }

  private func found(_ attributes: Attributes, in group: AccessGroup? = nil) throws -> Answer.Entries {
    guard case .entries(let entries) = try answer(.items(nil, group, attributes)) else { throw KeychainError(.agent) }
    return entries
  }

  /// The same by a walk over the file in another process's place.
  private func walked(_ attributes: Attributes, in group: AccessGroup?, _ vault: inout Vault) throws -> Answer.Entries {
    let service = ItemService(.owner, at: .test)
    guard case .entries(let entries) = try service.carryOut(.items(nil, group, attributes), in: &vault) else {
      throw KeychainError(.agent)
    }
    return entries
  }

  private static func attributes(_ pairs: KeyValuePairs<String, String>) -> Attributes {
    var attributes = Attributes()
    for (name, value) in pairs { attributes[name] = .text(value) }
    return attributes
  }

  /// Few names and values, so that items share them, and some searches find nothing.
  private static func item(_ random: inout SeededGenerator) -> Item {
    var item = Item(service: "s\(Int.random(in: 0..<3, using: &random))", account: Bool.random(using: &random) ? "" : "a")
    item.attributes["label"] = .text("l\(Int.random(in: 0..<4, using: &random))")
    for name in ["user.a", "user.b"] where Bool.random(using: &random) {
      item.attributes[name] = .text("\(Int.random(in: 0..<3, using: &random))")
    }
    return item
  }

  /// After each of 400 changes, by the agent and by others, each search finds what a walk finds.
  @Test(arguments: 1...4 as ClosedRange<UInt64>) func searchesFindWhatWalksFind(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var other = try Vault.openThrowAway(FileStore(at: bench.vault.path))
    let groups = [AccessGroup.standard, try AccessGroup("other")]
    _ = try answer(.add(Item(service: "first", account: ""), Secret(testing: "x"), groups[1], .whenUnlocked, installBound: false))
    for _ in 0..<100 {
      let all = try other.entries().entries
      let entry = all.randomElement(using: &random)
      let item = Self.item(&random)
      let group = groups.randomElement(using: &random) ?? .standard
      let secret = try Secret(testing: "x")
      do {
        switch (Int.random(in: 0..<8, using: &random), entry) {
        case (0...3, _): _ = try answer(.add(item, secret, group, .whenUnlocked, installBound: false))
        case (4, let entry?): _ = try answer(.update(entry.reference, generation: entry.generation, item, nil, nil))
        case (5, let entry?): _ = try answer(.move(entry.reference, generation: entry.generation, item, group))
        case (6, let entry?):
          _ = try answer(.remove(entry.reference))
          if Bool.random(using: &random) { _ = try answer(.restore(entry.reference, nil)) }
        default: _ = try other.add(item, secret: secret, to: group, at: .test)
        }
      } catch let error where KeychainError(error).code == .duplicate || KeychainError(error).code == .notAllowed {
        // An item of that name is there.
      }
      var wanted = Self.item(&random).attributes
      for (name, _) in wanted where Bool.random(using: &random) { wanted[name] = nil }
      let group2 = Bool.random(using: &random) ? group : nil
      #expect(try found(wanted, in: group2) == walked(wanted, in: group2, &other))
    }
  }

  /// Another record is not read: its damage, which a walk reports, is not met.
  @Test func othersAreNotOpened() throws {
    let (mine, damaged) = (Item(service: "s", account: "mine"), Item(service: "s", account: "damaged"))
    for item in [mine, damaged] {
      var item = item
      item.attributes["user.x"] = item.attributes["account"]
      _ = try answer(.add(item, Secret(testing: "x"), nil, .whenUnlocked, installBound: false))
    }
    #expect(try found(Self.attributes(["user.x": "mine"])).entries.count == 1)
    let entry = try #require(try found(Self.attributes(["user.x": "damaged"])).entries.first)
    try FileStore(at: bench.vault.path).commit { rows in
      let id = entry.reference.id
      let (row, secret) = (try #require(try rows.record(id)), try #require(try rows.secret(id)))
      var change = Change()
      change.records[id] = SealedRecord(
        id: id, group: row.group, meta: row.meta, attributes: row.attributes.map { ~$0 }, secret: secret)
      return change
    }
    let first = try found(Self.attributes(["user.x": "mine"]))
    #expect(first.entries.count == 1 && first.damagedCount == 0)
    let second = try found(Self.attributes(["user.x": "damaged"]))
    #expect(second.entries.isEmpty && second.damagedCount == 1)
    #expect(try found(Attributes()).damagedCount == 1)
  }

  /// A locked vault opens fewer items.
  @Test func aLockChangesWhatIsFound() throws {
    for (account, accessible) in [("now", Accessibility.whenUnlocked), ("later", .afterFirstUnlock)] {
      let item = Item(service: "s", account: account)
      _ = try answer(.add(item, Secret(testing: "x"), nil, accessible, installBound: false))
    }
    let wanted = Self.attributes(["service": "s"])
    #expect(try found(wanted).entries.count == 2)
    bench.vault.lock()
    #expect(try found(wanted).entries.map(\.item.attributes["account"]) == [.text("later")])
    try bench.unlock()
    #expect(try found(wanted).entries.count == 2)
  }
}
