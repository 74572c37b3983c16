import CofferTesting
import SecretMemory
import Testing
import VaultCore

/// Random operations against a dictionary.
@Suite struct ModelTests {
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func vaultAndDictionaryAgree(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = MemoryStore()
    let anchor = MemoryAnchorStore()
    var vault = try Vault.throwAway(in: store, anchor: anchor)
    let groups = [AccessGroup.standard, try AccessGroup("a"), try AccessGroup("b")]
    try vault.createGroup(groups[1], at: .test)
    try vault.createGroup(groups[2], at: .test)
    var model: [[String]: [UInt8]] = [:]
    for step in 0..<400 {
      let group = groups.randomElement(using: &random)!
      let item = Item(service: "service", account: "\(Int.random(in: 0..<60, using: &random))")
      let key = [group.name, item["account"]!]
      let value = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let entry = try vault.entry(item, in: group)
      #expect((entry != nil) == (model[key] != nil))
      switch (Int.random(in: 0..<10, using: &random), entry) {
      case (0..<6, nil):
        try vault.add(item, secret: Secret(testing: value), to: group, at: .test)
        model[key] = value
      case (0..<4, let entry?):
        try vault.update(entry.reference, secret: Secret(testing: value), at: .test)
        model[key] = value
      case (4..<7, let entry?):
        try vault.remove(entry.reference)
        model[key] = nil
      case (7..<9, let entry?):
        let target = groups.randomElement(using: &random)!
        let targetKey = [target.name, key[1]]
        if target == group || model[targetKey] == nil {
          try vault.move(entry.reference, to: target, at: .test)
          let moved = model.removeValue(forKey: key)
          model[targetKey] = moved
        } else {
          #expect(code { try vault.move(entry.reference, to: target, at: .test) } == .duplicate)
        }
      default:
        break
      }
      if step % 97 == 0 {
        let reopened = try Vault.openThrowAway(store, anchor: anchor)
        vault = reopened
      }
    }
    let entries = try vault.entries()
    #expect(entries.entries.count == model.count)
    for entry in entries.entries {
      #expect(try bytes(of: entry.reference, in: vault) == model[[entry.reference.group.name, entry.item["account"]!]])
    }
    let verification = try vault.verify()
    #expect(verification.problems == [])
    #expect(verification.recordCount == UInt64(model.count + 3 + store.records.keys.count { $0.byte(at: 0) >= 0x80 }))
  }
}
