import CofferAudit
import Foundation
import Testing

/// Manipulations of the files, the results of verification, and the notes of the next writer.
@Suite struct TamperTests {
  private func filled() throws -> Bench {
    let bench = Bench()
    try bench.log(["one", "two", "three", "four", "five"])
    return bench
  }

  @Test(arguments: 1...5) func anEntryThatWasEditedIsNamed(number: Int) throws {
    let bench = try filled()
    var lines = try bench.lines()
    lines[number - 1] = lines[number - 1].replacing("owner", with: "OWNER")
    try bench.write(lines: lines)
    #expect(try bench.problems() == [.changed(UInt64(number))])
    // Further entries do not hide it.
    try bench.log(["six"])
    #expect(try bench.problems() == [.changed(UInt64(number))])
  }

  @Test(arguments: 1...5) func everyByteCounts(number: Int) throws {
    let bench = try filled()
    let lines = try bench.lines()
    let line = Array(lines[number - 1].utf8)
    for index in stride(from: 0, to: line.count, by: 3) {
      var spoiled = line
      spoiled[index] ^= 0x01
      try bench.write(lines: lines.enumerated().map { $0 == number - 1 ? String(decoding: spoiled, as: UTF8.self) : $1 })
      #expect(try bench.problems() != [], "byte \(index)")
    }
  }

  @Test(arguments: 1...4) func anEntryThatWasTakenOutIsMissed(number: Int) throws {
    let bench = try filled()
    var lines = try bench.lines()
    lines.remove(at: number - 1)
    try bench.write(lines: lines)
    #expect(try bench.problems() == [number == 1 ? .beginsLate(2) : .missing(UInt64(number)...UInt64(number))])
  }

  @Test func entriesThatChangedPlacesAreSeen() throws {
    let bench = try filled()
    var lines = try bench.lines()
    lines.swapAt(1, 2)
    try bench.write(lines: lines)
    #expect(try bench.problems() == [.missing(2...2), .outOfOrder(2), .missing(3...3)])
  }

  @Test(arguments: 0...4) func aLogThatWasCutOffIsSeen(count: Int) throws {
    let bench = try filled()
    try bench.write(lines: Array(bench.lines().prefix(count)))
    #expect(try bench.problems() == [.missing(UInt64(count + 1)...5)])
    #expect(try bench.verify().mayBePowerFailure)
    // Also after further entries: the numbers continue after the last one.
    try bench.log(["six"])
    #expect(try bench.entries().last?.number == 7)
    let found = try bench.problems()
    #expect(
      count == 0
        ? found == [.wereMissing(notedIn: 6), .beginsLate(6)]
        : found == [.wereMissing(notedIn: 6), .missing(UInt64(count + 1)...5)])
  }

  @Test func missingSyncedEntriesAreNoPowerFailure() throws {
    let bench = Bench()
    let log = try AuditLog(in: bench.state)
    for name in ["one", "two"] { try log.append(Bench.entry(name), isSynced: true) }
    try log.append(Bench.entry("three"), isSynced: false)
    let lines = try bench.lines()
    try bench.write(lines: Array(lines.prefix(2)))
    #expect(try bench.verify().mayBePowerFailure)
    try bench.write(lines: Array(lines.prefix(1)))
    #expect(try !bench.verify().mayBePowerFailure && bench.problems() == [.missing(2...3)])
  }

  @Test func aLogWithoutItsHeadIsSeen() throws {
    let bench = try filled()
    try FileManager.default.removeItem(atPath: bench.path("head"))
    try bench.write(lines: Array(bench.lines().prefix(3)))
    #expect(try bench.problems() == [.headIsWrong])
    try bench.log(["next"])
    #expect(try bench.problems() == [.headWasWrong(notedIn: 4)])
    try bench.write(Array("nonsense\n".utf8), "head")
    #expect(try bench.problems().contains(.headIsWrong))
    try bench.log(["next"])
    #expect(try bench.problems() == [.headWasWrong(notedIn: 4), .headWasWrong(notedIn: 6)])
  }

  @Test func filesThatAreGoneAreSeen() throws {
    let bench = try filled()
    try FileManager.default.removeItem(atPath: bench.path(try #require(bench.segments().first)))
    #expect(try bench.problems() == [.missing(1...5)])
    try bench.log(["six"])
    #expect(try bench.problems() == [.wereMissing(notedIn: 6), .beginsLate(6)])
  }

  /// Deleted files are not taken for a new log, neither by verification nor by a writer that had them open.
  @Test func aLogWhoseFilesWereAllRemovedIsNotWhole() throws {
    let bench = try filled()
    for name in try bench.segments() + ["head"] { try FileManager.default.removeItem(atPath: bench.path(name)) }
    #expect(try bench.problems() == [.headIsWrong])
  }

  /// A log without entries is intact.
  @Test func aNewLogIsWhole() throws {
    let bench = Bench()
    _ = try AuditLog(in: bench.state)
    #expect(try bench.problems() == [] && bench.entries().isEmpty)
  }

  /// A process that has the log open notices that its files were deleted.
  @Test func aLogThatIsOpenGoesOnInFilesWithNames() throws {
    let bench = Bench()
    let log = try AuditLog(in: bench.state)
    try log.append(Bench.entry("one"), isSynced: false)
    for name in try bench.segments() + ["head"] { try FileManager.default.removeItem(atPath: bench.path(name)) }
    try log.append(Bench.entry("two"), isSynced: false)
    #expect(try bench.names().last == "two" && bench.entries().last?.number == 4)
    #expect(try bench.problems() == [.headWasWrong(notedIn: 2), .wereMissing(notedIn: 3), .beginsLate(2)])
  }

  @Test func textThatIsNoEntryIsSeen() throws {
    let bench = try filled()
    var lines = try bench.lines()
    lines.insert("something else", at: 2)
    try bench.write(lines: lines)
    #expect(try bench.problems() == [.unreadable(after: 2)])
  }

  /// A chain that starts anew with the right numbers is detected.
  @Test func anEntryOfAnotherLogIsSeen() throws {
    let bench = try filled()
    let other = Bench()
    try other.log(["a", "b", "c", "d", "e"])
    var lines = try bench.lines()
    lines[2] = try other.lines()[2]
    try bench.write(lines: lines)
    #expect(try bench.problems() == [.changed(3), .changed(4)])
  }

  /// Not detected: an attacker who may write the files can build an intact chain. Only an end stored outside of the log reveals
  /// it.
  @Test func aRewrittenLogIsNotDetected() throws {
    let bench = try filled()
    let kept = try #require(try bench.verify().end)
    try FileManager.default.removeItem(atPath: bench.state)
    try bench.log(["one", "two", "three", "four", "other"])
    #expect(try bench.problems() == [])
    #expect(try bench.verify(continuing: kept).problems == [.notContinued(5)])
  }

  /// Numbers that would overflow, in `head` and in an entry.
  @Test(arguments: [0, 1, 2, 3]) func aNumberThatIsTooLargeIsRefused(field: Int) throws {
    let bench = try filled()
    var words = String(decoding: try bench.bytes("head"), as: UTF8.self).split(separator: " ").map(String.init)
    words[field + 1] = "\(UInt64.max)"
    try bench.write(Array(words.joined(separator: " ").utf8), "head")
    #expect(try bench.problems() == [.headIsWrong])
    try bench.log(["six"])
    #expect(try bench.problems() == [.headWasWrong(notedIn: 6)])
    #expect(try bench.names().last == "six")
  }

  @Test(arguments: [UInt64.max, UInt64.max - 1, 1 << 63]) func anEntryWithANumberThatIsTooLargeIsNone(number: UInt64) throws {
    let bench = try filled()
    var lines = try bench.lines()
    lines[4].replaceSubrange(lines[4].startIndex..<(try #require(lines[4].firstIndex(of: "\t"))), with: "\(number)")
    try bench.write(lines: lines)
    #expect(try bench.problems() == [.missing(5...5)])
    try bench.log(["six"])
    #expect(try bench.names().last == "six")
    #expect(AuditChain("\(number):\(String(repeating: "0", count: 64))") == nil)
  }

  /// Four million lines that are not entries.
  @Test(.timeLimit(.minutes(60))) func aFileOfLineEndsIsReadToItsEnd() throws {
    let bench = try filled()
    let segment = try #require(bench.segments().first)
    try bench.write(bench.bytes(segment) + [UInt8](repeating: UInt8(ascii: "\n"), count: 4 << 20), segment)
    let verification = try bench.verify()
    #expect(verification.problems == [] && verification.unfinishedCount == 1)
  }
}
