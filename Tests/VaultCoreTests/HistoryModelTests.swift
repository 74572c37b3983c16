import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// Random operations against a plain list of values for each name.
@Suite struct HistoryModelTests {
  private struct Value: Equatable {
    let number: UInt64
    let bytes: [UInt8]
    var replaced: Int64 = 0
  }

  private struct Model {
    static let limit = 6
    var present: [[String]: Value] = [:]
    /// Newest first; of a removed item its last value, too.
    var former: [[String]: [Value]] = [:]

    mutating func end(_ key: [String], at now: Int64) {
      guard var value = present.removeValue(forKey: key) else { return }
      value.replaced = now
      former[key, default: []].insert(value, at: 0)
      trim(key)
    }

    mutating func trim(_ key: [String]) {
      let all = former[key, default: []].sorted { ($0.replaced, $0.number) > ($1.replaced, $1.number) }
      former[key] = Array(all.prefix(Self.limit))
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64]) func historyAndModelAgree(seed: UInt64) throws {
    #expect(try differences(seed: seed) { _ in } == 0)
  }

  /// The control: a writer that loses one version is noticed.
  @Test func aLostVersionIsNoticed() throws {
    #expect(
      try differences(seed: 1) { vault in
        for entry in try vault.entries().entries where !entry.former.isEmpty {
          _ = try vault.transaction { try $0.purge(entry.reference) { $0 == entry.former.last } }
          return
        }
      } > 0)
  }

  /// - Parameter lose: Called before the end.
  /// - Returns: For how many names the vault has other versions than the model.
  private func differences(seed: UInt64, _ lose: (inout Vault) throws -> Void) throws -> Int {
    var random = SeededGenerator(seed: seed)
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let groups = [AccessGroup.standard, try AccessGroup("a")]
    try vault.createGroup(groups[1], at: .test)
    var limits = Limits()
    try limits.set(.historyVersions, to: UInt64(Model.limit))
    let set = limits
    try vault.transaction { try $0.setLimits(set) }
    var model = Model()
    var now = Timestamp.test
    for _ in 0..<300 {
      now.secondsSince1970 += 1
      let second = now.secondsSince1970
      let group = try #require(groups.randomElement(using: &random))
      let item = Item(service: "service", account: "\(Int.random(in: 0..<6, using: &random))")
      let key = [group.name, item["account"] ?? ""]
      let bytes = (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) }
      let entry = try vault.entry(item, in: group)
      #expect((entry != nil) == (model.present[key] != nil))
      switch (Int.random(in: 0..<12, using: &random), entry) {
      case (0..<5, nil):
        try vault.add(item, secret: Secret(testing: bytes), to: group, at: now)
        model.present[key] = Value(number: vault.lastGeneration, bytes: bytes)
      case (0..<4, let entry?):
        try vault.update(entry.reference, secret: Secret(testing: bytes), at: now)
        model.end(key, at: second)
        model.present[key] = Value(number: vault.lastGeneration, bytes: bytes)
      case (4, let entry?):
        try vault.update(entry.reference, at: now) { $0.label = "\(second)" }
        let old = model.present[key]?.bytes ?? []
        model.end(key, at: second)
        model.present[key] = Value(number: vault.lastGeneration, bytes: old)
      case (5..<7, let entry?):
        try vault.remove(entry.reference, at: now)
        model.end(key, at: second)
      case (7..<10, let entry?):
        let target = [try #require(groups.randomElement(using: &random)).name, "\(Int.random(in: 0..<6, using: &random))"]
        guard target != key, model.present[target] == nil else { continue }
        let group = try AccessGroup(target[0])
        _ = try vault.transaction { try $0.move(entry.reference, to: group, at: now) { $0["account"] = target[1] } }
        model.present[target] = model.present.removeValue(forKey: key)
        model.former[target] = model.former[target, default: []] + (model.former.removeValue(forKey: key) ?? [])
        model.trim(target)
      case (10..., _):
        guard let former = model.former[key], let version = former.randomElement(using: &random) else { continue }
        func isMeant(_ history: ItemHistory) -> Bool {
          history.entry.reference.group == group && history.entry.item["account"] == key[1]
        }
        let reference = try entry?.reference ?? #require(try vault.removedItems().first(where: isMeant)).entry.reference
        _ = try vault.transaction { try $0.restore(reference, version: version.number, at: now) }
        let isUnchanged = model.present[key]?.bytes == version.bytes
        let (old, before) = (model.present[key], model.former[key])
        model.end(key, at: second)
        model.present[key] = Value(number: vault.lastGeneration, bytes: version.bytes)
        // The label may differ, so that it is another value all the same.
        if isUnchanged, let old, try vault.entry(item, in: group)?.version == old.number {
          model.former[key] = before
          model.present[key] = old
        }
      default: break
      }
    }
    #expect(try vault.verify().problems == [])
    try lose(&vault)
    return try differences(between: model, and: vault)
  }

  private func differences(between model: Model, and vault: borrowing Vault) throws -> Int {
    var found: [[String]: [[UInt8]]] = [:]
    func note(_ history: ItemHistory) throws {
      let reference = history.entry.reference
      found[[reference.group.name, history.entry.item["account"] ?? ""]] = try
        ([history.entry.version] + history.former.map(\.number))
        .map { try vault.secret(of: reference, version: $0).copyIntoUnprotectedBytes() }
    }
    for entry in try vault.entries().entries { try note(vault.history(of: entry.reference)) }
    for history in try vault.removedItems() { try note(history) }
    var expected: [[String]: [[UInt8]]] = [:]
    for (key, value) in model.present { expected[key] = [value.bytes] + (model.former[key] ?? []).map(\.bytes) }
    for (key, values) in model.former where model.present[key] == nil && !values.isEmpty { expected[key] = values.map(\.bytes) }
    return Set(found.keys).union(expected.keys).count { found[$0] != expected[$0] }
  }
}
