import AccessRights
import CofferRequests
import CofferStorage
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferWire

/// Answers of an agent.
@Suite struct AnswerFrameTests {
  let item = WireTests.item
  var reference: Reference { get throws { try WireTests.reference } }

  @Test func answersAboutVersionsArriveAsTheyWereSent() throws {
    var row = Attributes()
    row["version"] = .integer(.max)
    row["state"] = .text("changed")
    row["time"] = .time(.test)
    row["item"] = .data(item.encoded)
    // More than one frame holds.
    let all = Array(repeating: row, count: 1000)
    var (found, kinds): ([Attributes], [FrameKind]) = ([], [])
    try Answer.rows(all).frames(request: 9) { frame in
      let received = try Received(frame)
      kinds.append(received.header.kind)
      found += try received.message.rows()
    }
    #expect(found == all && kinds.dropLast().allSatisfy { $0 == .part } && kinds.last == .done && kinds.count > 1)
    for damage in [nil, VaultError(.recordForged, "a row"), VaultError(.recordMissing)] {
      try Answer.reference(reference, damagedHead: damage).frames(request: 1) { frame in
        let (reference, found) = try Received(frame).message.reference()
        #expect(try reference == self.reference && found == damage && found?.detail == damage?.detail)
      }
    }
    var fields = Attributes()
    fields["group"] = .text("g")
    fields["id"] = .data([UInt8](repeating: 1, count: 16))
    fields["detail"] = .text("of nothing")
    #expect(throws: WireError(.field)) { _ = try Message(fields: fields).reference() }
  }

  /// One that is too large for the frame of the largest secret does not come.
  @Test func aSecretComesWithItsItem() throws {
    let entry = Entry(reference: try reference, item: item, accessibility: .afterFirstUnlock, generation: 3)
    var large = item
    large.attributes["user.x"] = .data([UInt8](repeating: 1, count: WireLimits.entryByteCount))
    let heavy = Entry(reference: try reference, item: large, accessibility: .afterFirstUnlock, generation: 3)
    for (sent, expected) in [(nil, nil), (entry, entry), (heavy, nil)] as [(Entry?, Entry?)] {
      for count in [0, 3, 1 << 20] {
        let secret = try Secret(testing: [UInt8](repeating: 7, count: count))
        try Answer.secret(secret, entry: sent).frames(request: 1) { frame in
          guard case .secret(let secret, let found) = try Received(frame).answer(to: .secret) else { throw WireError(.operation) }
          #expect(secret.count == count && found == expected)
        }
      }
    }
  }

  @Test func answersArriveAsTheyWereSent() throws {
    func received(_ answer: consuming Answer) throws -> [(FrameHeader, Answer.Entries)] {
      var found: [(FrameHeader, Answer.Entries)] = []
      try answer.frames(request: 9) { frame in
        let received = try Received(frame)
        found.append((received.header, try received.message.entries()))
      }
      return found
    }
    let entry = Entry(reference: try reference, item: item, accessibility: .whenUnlockedThisDevice, generation: 3)
    let many = try received(.entries(.init(Array(repeating: entry, count: 1000))))
    #expect(many.map(\.0.kind) == [.part, .part, .part, .done])
    #expect(many.flatMap(\.1.entries) == Array(repeating: entry, count: 1000))
    #expect(try received(.entries(.init())).map(\.0.kind) == [.done])
    // Items that are large fill a frame before there are many.
    var large = item
    for number in 0..<5 { large.attributes["user.\(number)"] = .data([UInt8](repeating: 1, count: 65_000)) }
    let heavy = Entry(reference: try reference, item: large, accessibility: .whenUnlocked, generation: 1)
    #expect(try received(.entries(.init([heavy, heavy, heavy]))).map(\.1.entries.count) == [1, 1, 1])
    // Unreadable items come with the last part.
    var damaged = Answer.Entries(Array(repeating: entry, count: 300))
    damaged.unavailableCount = 2
    for number in 0..<100 { damaged.append(VaultError(.sealBroken, "\(number)")) }
    let both = try received(.entries(damaged)).map(\.1)
    #expect(both.count == 2 && both[0].damagedCount == 0 && both[0].unavailableCount == 0)
    #expect(both[1].damagedCount == 100 && both[1].damaged == damaged.damaged && both[1].unavailableCount == 2)
    #expect(damaged.damaged.map(\.detail) == (0..<Answer.Entries.damagedLimit).map { "\($0)" })
    for flag in [true, false] {
      try Answer.flag(flag).frames(request: 1) { frame in
        let found = try Received(frame).message.flag()
        #expect(found == flag)
      }
    }

    let entitlements = Entitlements([.init(.standard, .all), .init(try AccessGroup("g"), [.read, .list], confirmed: .read)])
    try Answer.entitlements(entitlements, application: "T.x").frames(request: 1) { frame in
      let found = try Received(frame).message.entitlements()
      #expect(found.held == entitlements && found.application == "T.x")
    }
    let status = AgentStatus(isLocked: true, wasUnlocked: false, vault: "/x")
    try Answer.status(status).frames(request: 1) { frame in
      let found = try Received(frame).message.status() == status
      #expect(found)
    }
    try Answer.reference(reference).frames(request: 1) { frame in
      let found = try Received(frame).message.reference().0 == reference
      #expect(found)
    }
    let causes: [KeychainError.Cause] = [
      .code, .vault(.noSuchSlot), .storage(.busy), .apps("a"), .containers("c"), .gate, .systemGate, .groupOfTeam, .absentAgent,
      .auditLog,
    ]
    for cause in causes {
      let received = try Received(KeychainError(.locked, cause: cause, "d").frame(request: 1))
      #expect(received.header.kind == .failed)
      let error = try received.message.failure()
      #expect(error.code == .locked && error.cause == cause && error.detail == "d")
    }
  }
}
