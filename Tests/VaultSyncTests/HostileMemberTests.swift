import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import Coffer
@testable import CofferSync
@testable import VaultSync

/// A member whose program keeps no rule. It has the keys of the space.
@Suite struct HostileMemberTests {
  /// Appends an entry of operations.
  private static func append(
    by member: Machine, _ operations: (Replica) throws -> [CofferSync.Operation]
  ) throws {
    try member.synchronise()
    let replica = try member.session().state.replica
    let entry = try replica.seal(.operations(operations(replica)), clear: [], key: #require(replica.keys[replica.epoch]))
    #expect(try member.engine.append(replica.count, entry) == .made)
  }

  private static func content(_ account: String, _ label: String = "") throws -> ItemContent {
    var item = Item(service: "service", account: account)
    item.label = label
    return try ItemContent(item, in: Machine.group, accessibility: .whenUnlocked)
  }

  private static func operation(
    _ replica: Replica, _ tag: Identifier, content: Value, secret: Value, at modified: Int64 = 1, replaced: [Identifier] = []
  ) throws -> CofferSync.Operation {
    try CofferSync.Operation(
      .item, author: replica.id, tag: tag, modified: modified,
      parts: [
        .init(register: .content, replaced: [], value: content), .init(register: .secret, replaced: replaced, value: secret),
        .init(register: .life, replaced: [], value: CofferSync.Operation.alive),
      ], replica.values)
  }

  private static func secret(_ text: String, _ replica: Replica) throws -> Value {
    .secret(try replica.values.seal(Secret(testing: text)))
  }

  /// An object of a member.
  private static func object(_ bytes: [UInt8], of member: Machine, _ replica: Replica) throws -> Value {
    let object = try replica.sealer.seal(Secret(copying: bytes), epoch: replica.epoch)
    try member.engine.put(ObjectName(of: object), object)
    return .object(ObjectName(of: object), count: bytes.count)
  }

  /// The items of the others come and go, and so does the next value of the item itself.
  @Test func anObjectThatIsNowhereHoldsUpNoOtherItem() throws {
    let machines = try SynchroniseTests.machines(2)
    let missing = Value.object(ObjectName(of: [7]), count: 70_000)
    let bob = try Self.content("bob")
    try Self.append(by: machines[0]) { replica in
      [try Self.operation(replica, bob.tag, content: .clear(bob.bytes), secret: missing)]
    }
    try machines[1].set("eve", "value")
    for _ in 0..<2 {
      let report = try machines[1].synchronise()
      #expect(report.refused.map(\.name) == ["service/bob"])
    }
    #expect(try machines[0].synchronise().written == 1)
    #expect(try machines.map { try $0.values() } == [["eve": "value "], ["eve": "value "]])
    // A concurrent value does not come between.
    try Self.append(by: machines[0]) { replica in
      [try Self.operation(replica, bob.tag, content: .clear(bob.bytes), secret: Self.secret("shown", replica), at: 2)]
    }
    #expect(try machines[1].synchronise().refused.isEmpty)
    #expect(try machines[1].values() == ["eve": "value ", "bob": "shown "])
  }

  /// It would be written under another name than that of the log.
  @Test func aContentOfAnotherItemInAnObjectIsRefused() throws {
    let machines = try SynchroniseTests.machines(2)
    try Self.append(by: machines[0]) { replica in
      let eve = try Self.content("eve", String(repeating: "x", count: 66_000 - 600))
      var long = eve.item
      long.attributes["user.more"] = .text(String(repeating: "y", count: 600))
      let other = try ItemContent(long, in: Machine.group, accessibility: .whenUnlocked)
      return [
        try Self.operation(
          replica, Self.content("bob").tag, content: Self.object(other.bytes, of: machines[0], replica),
          secret: Self.secret("x", replica))
      ]
    }
    let report = try machines[1].synchronise()
    #expect(report.refused.count == 1 && report.written == 0)
    #expect(try machines[1].values().isEmpty)
  }

  /// Each change names all writes that its author saw.
  @Test func writesWithoutNumberStopNoChange() throws {
    let machines = try SynchroniseTests.machines(2)
    try machines[1].set("bob", "first")
    try SynchroniseTests.settle(machines)
    let bob = try Self.content("bob")
    for start in [Int64(0), 200] {
      try Self.append(by: machines[0]) { replica in
        try (start..<start + 200).map { number in
          try Self.operation(
            replica, bob.tag, content: .clear(bob.bytes), secret: Self.secret("\(number)", replica), at: number)
        }
      }
    }
    try machines[1].synchronise()
    let entity = try #require(try machines[1].session().shown(EntityKey(.item, bob.tag)))
    #expect(entity[.secret].count == Entity.maximumLiveCount && entity[.secret].last?.modified == 145)
    try machines[1].set("bob", "second")
    try SynchroniseTests.settle(machines)
    #expect(try machines.map { try $0.values() } == [["bob": "second "], ["bob": "second "]])
    #expect(try machines[1].session().conflicts().isEmpty)
  }

  /// The files of a device have frames of a limited length.
  @Test func itemsWithManyWritesAreStored() throws {
    let machines = try SynchroniseTests.machines(1)
    try machines[0].set("bob", "first")
    try machines[0].synchronise()
    do {
      let session = try machines[0].session()
      var row = try #require(session.state.rows.values.first)
      row.seen[.secret] = try (0..<200).map { try Identifier.numbered(UInt8($0)) }
      try session.change { state in
        for number in 0..<1_000 { state.rows[try .numbered(UInt8(number / 250), UInt8(number % 250))] = row }
      }
      var plan = Plan()
      plan.steps = (0..<1_000).map { _ in Plan.Step(tag: .zero, row: row, digests: []) }
      try session.files.save(plan)
      #expect(try session.files.plan()?.steps.count == 1_000)
      try session.files.removePlan()
    }
    #expect(try machines[0].session().state.rows.count == 1_001)
  }

  /// Its author, or a member, has marked it so that the owner is asked; or its secret is damaged.
  @Test(arguments: [KeychainError.Code.confirmationNeeded, .integrity, .missingEntitlement])
  func anItemThatIsNotReadHoldsUpNoOtherItem(code: KeychainError.Code) throws {
    let machines = try SynchroniseTests.machines(2)
    try machines[0].set("bob", "first")
    try SynchroniseTests.settle(machines)
    try machines[1].set("bob", "second")
    try machines[1].set("eve", "value")
    try machines[0].set("joe", "value")
    try machines[0].set("bob", "third")
    machines[1].crash.refusal = (try #require(try machines[1].entry("bob")).reference.id, KeychainError(code))
    try machines[0].synchronise()
    for _ in 0..<2 {
      let report = try machines[1].synchronise()
      #expect(report.unread.map(\.name) == ["service/bob"])
    }
    #expect(try machines[1].values() == ["bob": "second ", "eve": "value ", "joe": "value "], "its change is not lost")
    try machines[0].synchronise()
    #expect(try machines[0].entry("eve") != nil)
    machines[1].crash.refusal = nil
    try SynchroniseTests.settle(machines)
    #expect(try machines[0].values() == machines[1].values())
    #expect(try machines[0].session().conflicts().map(\.name) == ["service/bob"])
    machines[1].crash.refusal = (try #require(try machines[1].entry("bob")).reference.id, KeychainError(code))
    try machines[0].set("bob", "fourth")
    try SynchroniseTests.settle(Array(machines.prefix(1)))
    _ = try machines[1].synchronise()
    machines[1].crash.refusal = nil
    try SynchroniseTests.settle(machines)
    #expect(try machines[1].values()["bob"] == "fourth ")
  }

  /// A value of the others needs no look at the one that is there; nor does a crash.
  @Test func anItemThatIsNotReadIsWritten() throws {
    let machines = try SynchroniseTests.machines(2)
    try machines[0].set("bob", "first")
    try machines[0].set("eve", "first")
    try SynchroniseTests.settle(machines)
    let id = try #require(try machines[1].entry("bob")).reference.id
    machines[1].crash.refusal = (id, KeychainError(.confirmationNeeded))
    try machines[0].set("bob", "second")
    try machines[0].synchronise()
    let report = try machines[1].synchronise()
    #expect(report.written == 1 && report.unread.isEmpty && report.refused.isEmpty)
    #expect(try machines[1].values() == ["bob": "second ", "eve": "first "])
    do {
      let session = try machines[1].session()
      let (tag, row) = try #require(session.state.rows.first { $0.value.version == nil })
      var plan = Plan()
      plan.steps = [Plan.Step(tag: tag, row: row, digests: [])]
      try session.files.save(plan)
    }
    #expect(try machines[1].synchronise().unread.map(\.name) == ["service/bob"])
  }

  /// An agent ends the connection of a program that sends it more, and with it the pass.
  @Test func anItemThatNoAgentTakesHoldsUpNoOtherItem() throws {
    let machines = try SynchroniseTests.machines(2)
    try Self.append(by: machines[0]) { replica in
      let long = try Self.content("long", String(repeating: "x", count: 3_000))
      let secret = try Self.object([UInt8](repeating: 1, count: 1 << 20), of: machines[0], replica)
      let bob = try Self.content("bob")
      return [
        try Self.operation(replica, long.tag, content: .clear(long.bytes), secret: secret),
        try Self.operation(replica, bob.tag, content: .clear(bob.bytes), secret: secret),
      ]
    }
    let report = try machines[1].synchronise()
    #expect(report.refused.map(\.name) == ["service/long"] && report.written == 1)
    #expect(try machines[1].entry("bob") != nil)
  }

  /// Items with many attributes go one by one, and those with more stay.
  @Test func itemsWithManyAttributesArePartsOfNoLargeRequest() throws {
    let machines = try SynchroniseTests.machines(2)
    for (name, count) in [("a", 4), ("b", 4), ("c", 9)] {
      try machines[0].set(name, "value")
      try machines[0].person.update(try #require(try machines[0].entry(name)).reference) { item in
        for number in 0..<count { item.attributes["user.\(number)"] = .text(String(repeating: "x", count: 60_000)) }
      }
    }
    #expect(try machines[0].synchronise().changed == 2)
    machines[1].crash.largest = 0
    #expect(try machines[1].synchronise().written == 2)
    #expect(machines[1].crash.largest <= 1)
    #expect(try machines[0].synchronise().deleted == 0)
  }

  /// An owner that makes a checkpoint may put any bytes there, and a device takes its state if the entries before it are missing.
  @Test func aContentWithoutFormInAStateHoldsUpNoOtherItem() throws {
    let machines = try SynchroniseTests.machines(1)
    try machines[0].set("bob", "value")
    try machines[0].synchronise()
    let session = try machines[0].session()
    let replica = session.state.replica
    let tag = try Identifier.numbered(1)
    let operation = try Self.operation(replica, tag, content: .clear([7]), secret: Self.secret("x", replica))
    var entity = Entity()
    for part in operation.parts {
      entity.add(Write(dot: operation.dot, modified: 1, value: part.value, generation: 1), to: part.register)
    }
    session.state.replica.state.insert(entity, EntityKey(.item, tag), store: nil)
    let found = try session.collect { _ in nil }
    #expect(try session.apply(found, session.keysToApply(isComplete: true)) { _ in nil }.refused.map(\.name) == [tag.description])
    #expect(session.offeredGroups() == [Machine.group: 1])
  }

  /// Times are those of each vault: a device took an item with them for one that its person had changed.
  @Test(arguments: ["created", "modified", Item.installBound]) func anAttributeOfTheVaultIsNotOneOfTheSpace(name: String) throws {
    let machines = try SynchroniseTests.machines(2)
    var item = Item(service: "service", account: "bob")
    item.attributes[name] = name == Item.installBound ? .text("app") : .time(Timestamp(secondsSince1970: .max))
    let group = Array(Machine.group.name.utf8)
    let bytes = [1] + UInt32(group.count).littleEndianBytes + group + item.encoded
    try Self.append(by: machines[0]) { replica in
      [try Self.operation(replica, Self.content("bob").tag, content: .clear(bytes), secret: Self.secret("x", replica))]
    }
    for _ in 0..<2 {
      let report = try machines[1].synchronise()
      #expect(report.written == 0 && report.changed == 0 && report.refused.isEmpty)
    }
  }
}

extension Identifier {
  fileprivate static func numbered(_ bytes: UInt8...) throws -> Identifier {
    try #require(Identifier(bytes + [UInt8](repeating: 9, count: Identifier.byteCount - bytes.count)))
  }
}
