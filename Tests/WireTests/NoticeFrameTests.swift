import CofferRequests
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferWire

/// Notices of changes.
@Suite struct NoticeFrameTests {
  var reference: Reference { get throws { try WireTests.reference } }

  @Test func noticesArriveAsTheyWereSent() throws {
    let reference = try reference
    let all: [Notice] = [.added(reference), .updated(reference), .removed(reference), .locked, .unlocked, .missed]
    for notices in [all, []] {
      let received = try Received(Notice.frame(notices, request: 3))
      #expect(received.header.kind == .notices && received.header.request == 3)
      let found = try received.message.notices()
      #expect(found == notices)
    }
    // As many as may wait, with the longest names.
    let long = Reference(group: try AccessGroup(String(repeating: "g", count: 255)), id: reference.id)
    let many = Array(repeating: Notice.updated(long), count: NoticeQueue.limit) + [.missed]
    let arrived = try Received(Notice.frame(many, request: 3)).message.notices() == many
    #expect(arrived)
    switch try WireTests.sent(SessionRequest.watch) {
    case .watch: break
    default: Issue.record("another call")
    }
  }

  @Test func noticesThatAreNoneAreRefused() throws {
    func refused(_ change: (inout Attributes) -> Void) -> WireError? {
      var fields = Attributes()
      fields["kind"] = .integer(1)
      fields["group"] = .text("g")
      fields["id"] = .data([UInt8](repeating: 1, count: 16))
      change(&fields)
      do {
        _ = try Message(parts: [TLV.encode(fields)]).notices()
        return nil
      } catch { return error }
    }
    #expect(refused { _ in } == nil)
    for kind in [UInt64(0), 7, .max] { #expect(refused { $0["kind"] = .integer(kind) } == WireError(.field)) }
    #expect(refused { $0["kind"] = nil } == WireError(.field))
    #expect(refused { $0["id"] = nil } == WireError(.field))
    #expect(refused { $0["id"] = .data([1]) } == WireError(.field))
    #expect(refused { $0["other"] = .integer(1) } == WireError(.field))
    // A notice about no item names none.
    #expect(refused { $0["kind"] = .integer(4) } == WireError(.field))
    #expect(throws: WireError(.malformed)) { _ = try Message(parts: [[1]]).notices() }
    #expect(throws: WireError(.malformed)) { _ = try Message(secret: Secret(testing: "x")).notices() }
    var fields = Attributes()
    fields["kind"] = .integer(4)
    #expect(throws: WireError(.malformed)) { _ = try Message(fields: fields).notices() }
  }
}
