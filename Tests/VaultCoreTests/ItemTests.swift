import CofferTesting
import SecretMemory
import Testing
import VaultCore

/// Reads a secret back as bytes, for comparing.
func bytes(of reference: Reference, in vault: borrowing Vault) throws -> [UInt8] {
  try vault.secret(of: reference).copyIntoUnprotectedBytes()
}

/// Runs `body` and returns the code of the `VaultError` it throws.
func code(_ body: () throws -> Void) -> VaultError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? VaultError)?.code
  }
}

@Suite struct ItemTests {
  @Test(arguments: [0, 1, 7, 127, 128, 255, 256, 4094, 4095, 4096, 8191, 8192, 1 << 20])
  func secretOfAnyLengthComesBack(count: Int) throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
    let reference = try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: value), at: .test)
    let reopened = try Vault.openThrowAway(store)
    #expect(try bytes(of: reference, in: reopened) == value)
    #expect(try reopened.verify().isSound)
  }

  @Test func secretOverOneMebibyteIsRefused() throws {
    var vault = try Vault.throwAway()
    let refusal = code {
      try vault.add(Item(service: "s", account: "a"), secret: Secret(count: (1 << 20) + 1), at: .test)
    }
    #expect(refusal == .secretTooLarge)
    #expect(try vault.entries().entries.isEmpty)
  }

  @Test func duplicateIsRefusedAndChangesNothing() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let reference = try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "one"), at: .test)
    let before = store.records
    #expect(code { try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "two"), at: .test) } == .duplicate)
    #expect(store.records == before)
    #expect(try bytes(of: reference, in: vault) == Array("one".utf8))
  }

  @Test func absentAndEmptyPrimaryAttributesAreTheSameItem() throws {
    var vault = try Vault.throwAway()
    var empty = Item(.genericPassword)
    empty.attributes["service"] = .text("s")
    empty.attributes["account"] = .text("")
    try vault.add(empty, secret: Secret(testing: "x"), at: .test)
    #expect(code { try vault.add(Item(service: "s", account: ""), secret: Secret(testing: "y"), at: .test) } == .duplicate)
  }

  @Test func composedAndDecomposedNamesAreDifferentItems() throws {
    var vault = try Vault.throwAway()
    try vault.add(Item(service: "caf\u{E9}", account: ""), secret: Secret(testing: "1"), at: .test)
    let other = try vault.add(Item(service: "cafe\u{301}", account: ""), secret: Secret(testing: "2"), at: .test)
    #expect(try vault.entries().entries.count == 2)
    #expect(try bytes(of: other, in: vault) == Array("2".utf8))
  }

  @Test(arguments: ItemClass.allCases)
  func everyPrimaryAttributeTellsItemsApart(itemClass: ItemClass) throws {
    var vault = try Vault.throwAway()
    try vault.add(Item(itemClass), secret: Secret(testing: "none"), at: .test)
    for (name, absent) in itemClass.primaryAttributes {
      var item = Item(itemClass)
      switch absent {
      case .text: item.attributes[name] = .text("x")
      case .data: item.attributes[name] = .data([1])
      case .integer: item.attributes[name] = .integer(1)
      case .time: item.attributes[name] = .time(.test)
      }
      let reference = try vault.add(item, secret: Secret(testing: name), at: .test)
      #expect(try vault.entry(item)?.reference == reference)
      #expect(try bytes(of: reference, in: vault) == Array(name.utf8))
    }
    #expect(try vault.entries().entries.count == itemClass.primaryAttributes.count + 1)
    #expect(try vault.verify().isSound)
  }

  @Test func updateKeepsTheSecretAndMovesWithThePrimaryKey() throws {
    var vault = try Vault.throwAway()
    let old = try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "value"), at: .test)
    let same = try vault.update(old, at: Timestamp(secondsSince1970: 1_800_000_000)) { $0.label = "Label" }
    #expect(same == old)
    let new = try vault.update(old, at: .test) { $0["account"] = "b" }
    #expect(new != old)
    #expect(code { _ = try vault.entry(old) } == .notFound)
    let entry = try vault.entry(new)
    #expect(entry.item.label == "Label")
    #expect(entry.item.created == .test)
    #expect(try bytes(of: new, in: vault) == Array("value".utf8))
  }

  @Test func updateOntoAnotherItemIsRefused() throws {
    var vault = try Vault.throwAway()
    let first = try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "1"), at: .test)
    let second = try vault.add(Item(service: "s", account: "b"), secret: Secret(testing: "2"), at: .test)
    #expect(code { try vault.update(second, at: .test) { $0["account"] = "a" } } == .duplicate)
    #expect(try bytes(of: first, in: vault) == Array("1".utf8))
    #expect(try bytes(of: second, in: vault) == Array("2".utf8))
  }

  @Test func groupsKeepItemsApart() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let team = try AccessGroup("team")
    #expect(
      code { try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "x"), to: team, at: .test) }
        == .groupNotFound)
    #expect(try !vault.contains(team))
    try vault.createGroup(team, at: .test)
    #expect(try vault.contains(team))
    #expect(code { try vault.createGroup(team, at: .test) } == .groupExists)
    let mine = try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "mine"), at: .test)
    let ours = try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "ours"), to: team, at: .test)
    #expect(mine.id != ours.id)
    #expect(try vault.entries(in: team).entries.map(\.reference) == [ours])
    #expect(try vault.groups() == [.standard, team])
    #expect(code { try vault.move(mine, to: team, at: .test) } == .duplicate)
    try vault.remove(ours)
    let moved = try vault.move(mine, to: team, at: .test)
    #expect(try bytes(of: moved, in: Vault.openThrowAway(store)) == Array("mine".utf8))
    #expect(code { _ = try vault.entry(mine) } == .notFound)
    // A reference with the right identifier and the wrong group is nobody's.
    #expect(try vault.entry(Item(service: "s", account: "a"), in: .standard) == nil)
  }

  @Test(arguments: ["new\nline", "nul\0", "\u{1B}[31m", "del\u{7F}"])
  func controlCharactersInNamesAreRefused(name: String) throws {
    var vault = try Vault.throwAway()
    #expect(code { try vault.add(Item(service: name, account: "a"), secret: Secret(count: 0), at: .test) } == .nameNotAllowed)
    #expect(code { _ = try AccessGroup(name) } == .nameNotAllowed)
  }

  @Test func longNamesAreRefused() throws {
    var vault = try Vault.throwAway()
    let longest = String(repeating: "x", count: 1024)
    try vault.add(Item(service: longest, account: longest), secret: Secret(count: 0), at: .test)
    #expect(
      code { try vault.add(Item(service: longest + "x", account: ""), secret: Secret(count: 0), at: .test) } == .nameTooLong)
    #expect(code { _ = try AccessGroup(String(repeating: "x", count: 256)) } == .nameTooLong)
    #expect(code { _ = try AccessGroup("") } == .nameNotAllowed)
  }

  @Test func attributesOutsideTheSchemaAreRefused() throws {
    var vault = try Vault.throwAway()
    func refusal(_ name: String, _ value: AttributeValue) -> VaultError.Code? {
      var item = Item(service: "s", account: "a")
      item.attributes[name] = value
      return code { try vault.add(item, secret: Secret(count: 0), at: .test) }
    }
    #expect(refusal("nonsense", .text("x")) == .attributeNotAllowed)
    #expect(refusal("class", .integer(2)) == .attributeNotAllowed)
    #expect(refusal("service", .integer(1)) == .attributeNotAllowed)
    #expect(refusal("user.", .text("x")) == .attributeNotAllowed)
    #expect(refusal("user.long", .text(String(repeating: "x", count: 65_537))) == .attributeNotAllowed)
    #expect(refusal("user." + String(repeating: "x", count: 251), .text("x")) == .nameTooLong)
    #expect(refusal("user.fine", .text(String(repeating: "x", count: 65_536))) == nil)
  }

  @Test func transactionIsOneCommit() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let commits = store.commitCount
    try vault.transaction { transaction in
      for number in 0..<300 {
        try transaction.add(Item(service: "s", account: "\(number)"), secret: Secret(testing: "\(number)"), at: .test)
      }
      let entry = try transaction.entry(Item(service: "s", account: "17"))
      #expect(try transaction.secret(of: #require(entry).reference).copyIntoUnprotectedBytes() == Array("17".utf8))
    }
    #expect(store.commitCount == commits + 1)
    #expect(try vault.entries().entries.count == 300)
    #expect(try vault.verify().isSound)
  }

  /// A caller that goes on after an error must not commit half of what failed.
  @Test func swallowedErrorsLeaveItemsWhole() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let first = try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "1"), at: .test)
    let second = try vault.add(Item(service: "s", account: "b"), secret: Secret(testing: "2"), at: .test)
    try vault.createGroup(AccessGroup("team"), at: .test)
    try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "team"), to: AccessGroup("team"), at: .test)
    try vault.transaction { transaction in
      #expect(code { try transaction.update(second, at: .test) { $0["account"] = "a" } } == .duplicate)
      #expect(code { try transaction.update(second, secret: Secret(count: (1 << 20) + 1), at: .test) } == .secretTooLarge)
      #expect(code { try transaction.move(first, to: AccessGroup("team"), at: .test) } == .duplicate)
      #expect(code { try transaction.move(first, to: AccessGroup("nobody"), at: .test) } == .groupNotFound)
      try transaction.add(Item(service: "s", account: "c"), secret: Secret(testing: "3"), at: .test)
    }
    #expect(try bytes(of: first, in: vault) == Array("1".utf8))
    #expect(try bytes(of: second, in: vault) == Array("2".utf8))
    #expect(try vault.entries().entries.count == 4)
    #expect(try vault.verify().problems == [])
  }

  /// The tree grows at the 65,537th record, and for that needs every node: one that is gone stops it in the middle of the edit. The
  /// transaction cannot know any more what it has, and commits nothing.
  @Test func editThatFailedHalfWayIsNotCommitted() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    try vault.transaction { transaction in
      for number in 1..<65_536 {
        try transaction.add(Item(service: "s", account: "\(number)"), secret: Secret(count: 0), at: .test)
      }
    }
    #expect(try vault.status().recordCount == 65_536)
    store.nodes[[7]] = nil
    let header = store.header
    let refusal = code {
      try vault.transaction { transaction in
        // At least one of them is not below the node that is gone.
        for account in ["one", "two", "three"] {
          do {
            try transaction.add(Item(service: "new", account: account), secret: Secret(count: 0), at: .test)
          } catch {}
        }
      }
    }
    #expect(refusal == .nodeMissing)
    #expect(store.header == header)
  }

  @Test func failedTransactionLeavesNothing() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let before = store.copy()
    struct Cancelled: Error {}
    #expect(throws: Cancelled.self) {
      try vault.transaction { transaction in
        try transaction.add(Item(service: "s", account: "a"), secret: Secret(testing: "x"), at: .test)
        throw Cancelled()
      }
    }
    #expect(store.records == before.records && store.nodes == before.nodes && store.header == before.header)
    store.nextCommitError = Cancelled()
    #expect(throws: Cancelled.self) { try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "x"), at: .test) }
    // The keyring must not have taken the commit that failed for the newest state.
    try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "y"), at: .test)
    #expect(try vault.entries().entries.count == 1)
  }
}
