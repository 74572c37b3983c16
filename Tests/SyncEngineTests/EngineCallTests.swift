import CofferSync
import CofferTesting
import Testing
import VaultCore

@testable import SyncEngines

/// Calls and answers as bytes: neither end believes the other.
@Suite struct EngineCallTests {
  private static let name = ObjectName(of: [1])

  @Test func callsAndAnswersAreReadBack() throws {
    let calls: [EngineCall] = [
      .append(7, [1, 2]), .append(0, []), .read(.max, limit: 500), .put(Self.name, [3]), .get(Self.name), .wait(7),
      .names(after: nil), .names(after: Self.name), .delete([Self.name, ObjectName(of: [2])]), .delete([]),
      .deleteEntries([1..<3, 5..<6]), .deleteEntries([]),
    ]
    for call in calls { #expect(EngineCall(call.bytes)?.bytes == call.bytes) }
    let answers: [EngineAnswer] = [
      .appended(.made), .appended(.taken), .appended(.shorter), .entries([]),
      .entries([NumberedEntry(3, []), NumberedEntry(4, [1, 2, 3])]), .done, .object(nil), .object([]), .object([9]),
      .failed("no room"), .names([]), .names([Self.name, ObjectName(of: [2])]),
    ]
    for answer in answers { #expect(EngineAnswer(answer.bytes)?.bytes == answer.bytes) }
  }

  @Test func otherFormsAreRefused() {
    for call in [EngineCall.append(7, []), .read(1, limit: 2), .put(Self.name, []), .get(Self.name), .wait(7)] {
      for count in 0..<call.bytes.count { #expect(EngineCall(Array(call.bytes.prefix(count))) == nil) }
    }
    #expect(EngineCall(EngineCall.get(Self.name).bytes + [0]) == nil && EngineCall([9]) == nil)
    for count in 2..<33 { #expect(EngineCall(Array(EngineCall.names(after: Self.name).bytes.prefix(count))) == nil) }
    #expect(EngineCall([6] + EngineCall.delete([Self.name, Self.name]).bytes.dropFirst()) == nil)
    for count in 2..<33 { #expect(EngineCall(Array(EngineCall.delete([Self.name]).bytes.prefix(count))) == nil) }
    for count in 2..<17 { #expect(EngineCall(Array(EngineCall.deleteEntries([1..<2]).bytes.prefix(count))) == nil) }
    // It ends before it begins.
    #expect(EngineCall([8] + UInt64(2).littleEndianBytes + UInt64(1).littleEndianBytes) == nil)
    for count in 2..<33 { #expect(EngineAnswer(Array(EngineAnswer.names([Self.name]).bytes.prefix(count))) == nil) }
    let entries = EngineAnswer.entries([NumberedEntry(3, [1, 2, 3])]).bytes
    for count in 2..<entries.count { #expect(EngineAnswer(Array(entries.prefix(count))) == nil) }
    #expect(EngineAnswer([]) == nil && EngineAnswer([9]) == nil && EngineAnswer([1, 3]) == nil && EngineAnswer([1]) == nil)
  }

  /// A length that lies takes no memory, and nothing traps.
  @Test func noiseIsNoCrash() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: 0..<(.max), using: &random) }
      for kind in UInt8(0)...8 {
        if let call = EngineCall([kind] + bytes) { #expect(call.bytes == [kind] + bytes) }
        _ = EngineAnswer([kind] + bytes)
      }
    }
  }
}
