import CofferRequests
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferWire

/// Bytes that no honest peer sends.
@Suite struct HostileFrameTests {
  let item = WireTests.item
  var reference: Reference { get throws { try WireTests.reference } }

  private func header(_ bytes: [UInt8]) throws -> FrameHeader { try unsafe FrameHeader(parsing: bytes.span.bytes) }

  @Test func headersAreChecked() throws {
    let good = FrameHeader(.request(.status), request: 5, bodyByteCount: 6).bytes
    #expect(try header(good) == FrameHeader(.request(.status), request: 5, bodyByteCount: 6))
    for count in 0..<16 { #expect(throws: WireError(.frameLength)) { try header(Array(good.prefix(count))) } }
    for length in [UInt32(WireLimits.frameByteCount - 15), .max] {
      var bytes: [UInt8] = []
      bytes.append(littleEndian: length)
      #expect(throws: WireError(.frameLength)) { try header(bytes + good[4...]) }
    }
    let small = WireLimits.smallBodyByteCount
    #expect(throws: WireError(.frameLength)) {
      try header(FrameHeader(.request(.status), request: 5, bodyByteCount: small + 1).bytes)
    }
    #expect(try header(FrameHeader(.request(.add), request: 5, bodyByteCount: small + 1).bytes).bodyByteCount == small + 1)
    var version = good
    version[4] = 2
    #expect(throws: WireError(.version)) { try header(version) }
    for operation in UInt16(0)...300 where FrameKind(rawValue: operation) == nil {
      var bytes = good
      (bytes[6], bytes[7]) = (UInt8(operation & 0xFF), UInt8(operation >> 8))
      #expect(throws: WireError(.operation)) { try header(bytes) }
    }
  }

  /// Every frame cut at every byte, and with each byte changed: an error or another message, never a crash.
  @Test func everyDamageIsAnErrorOrAnotherMessage() throws {
    var calls: [[UInt8]] = []
    calls.append(
      try Request.items(.add(item, Secret(testing: "s"), .standard, .whenUnlocked, installBound: true)).frame(request: 1).copied)
    calls.append(
      try Request.items(.update(reference, generation: 3, item, Secret(testing: "s"), .afterFirstUnlock)).frame(request: 1).copied
    )
    let made = NewItems([item, item], [1, 1], secrets: try Secret(testing: "sx"))
    let new = try #require(made)
    calls.append(try Request.items(.addAll(new, .standard, .whenUnlocked)).frame(request: 1).copied)
    let derived = try Credential.derived(Secret(count: 32), .passphrase, salt: reference.id.bytes)
    calls.append(try Request.session(.unlock(derived)).frame(request: 1).copied)
    calls.append(try Request.items(.items(.note, .standard, item.attributes)).frame(request: 1).copied)
    calls.append(try Request.items(.secret(reference, purpose: "p")).frame(request: 1).copied)
    calls.append(try Request.items(.removed(.note, .standard, item.attributes)).frame(request: 1).copied)
    calls.append(try Request.items(.version(reference, 7, purpose: "p")).frame(request: 1).copied)
    calls.append(try Request.items(.purge(reference, .version(7))).frame(request: 1).copied)
    var (errors, others) = (0, 0)
    func parse(_ operation: Request.Kind, _ body: [UInt8]) {
      do {
        _ = try Request.parse(operation, Message(parsing: unsafe Secret(copying: body.span.bytes)))
        others += 1
      } catch {
        #expect(error is WireError, "\(error)")
        errors += 1
      }
    }
    for frame in calls {
      guard case .request(let operation) = try header(Array(frame.prefix(16))).kind else { throw WireError(.operation) }
      let body = Array(frame.dropFirst(16))
      for count in 0..<body.count { parse(operation, Array(body.prefix(count))) }
      for index in body.indices {
        for change in [UInt8(1), 0x80, 0xFF] {
          var changed = body
          changed[index] ^= change
          parse(operation, changed)
        }
      }
      for other in Request.Kind.allCases where other != operation { parse(other, body) }
    }
    #expect(errors > 500 && others > 0)
  }

  @Test func malformedCallsAreRefused() throws {
    func refused(_ operation: Request.Kind, _ message: consuming Message) -> WireError? {
      do {
        _ = try Request.parse(operation, message)
        return nil
      } catch { return error as? WireError }
    }
    var fields = Attributes()
    fields["other"] = .integer(1)
    #expect(refused(.status, Message(fields: fields)) == WireError(.field))
    #expect(refused(.status, Message(parts: [[]])) == WireError(.malformed))
    #expect(try refused(.lock, Message(secret: Secret(testing: "x"))) == WireError(.malformed))
    #expect(refused(.remove, Message()) == WireError(.field))
    fields = Attributes()
    fields["group"] = .text("g")
    fields["id"] = .data([UInt8](repeating: 1, count: 16))
    fields["version"] = .integer(7)
    fields["with-item"] = .integer(1)
    // The item and one of its versions alone.
    #expect(refused(.purge, Message(fields: fields)) == WireError(.field))
    fields["with-item"] = .integer(0)
    #expect(refused(.purge, Message(fields: fields)) == nil)
    fields["with-item"] = nil
    #expect(refused(.version, Message(fields: fields)) == WireError(.field))
    fields = Attributes()
    fields["accessible"] = .integer(UInt64(Accessibility.whenUnlocked.rawValue))
    for (counts, itemCount) in [([1, 0], 2), ([1, 1], 1), ([1], 2), ([3], 1), ([], 0), ([.max], 1), ([1, 1], 2)]
      as [([UInt32], Int)]
    {
      var bytes: [UInt8] = []
      for count in counts { bytes.append(littleEndian: count) }
      fields["byte-counts"] = .data(bytes)
      let parts = [[UInt8]](repeating: item.encoded, count: itemCount)
      #expect(
        try refused(.addAll, Message(fields: fields, parts: parts, secret: Secret(testing: "ab")))
          == (counts == [1, 1] && itemCount == 2 ? nil : WireError(.field)), "\(counts)")
    }
    let many = [[UInt8]](repeating: item.encoded, count: NewItems.maximumCount + 1)
    #expect(refused(.addAll, Message(parts: many)) == WireError(.malformed))
    fields = Attributes()
    fields["kind"] = .integer(1)
    fields["text-count"] = .integer(5)
    #expect(try refused(.unlock, Message(fields: fields, secret: Secret(testing: "1234"))) == WireError(.field))
  }
}
