import AppContainers
import CofferAudit
import CofferFiles
import Foundation
import Testing

@Suite struct AuditLogTests {
  @Test func entriesAreReadAsWritten() throws {
    let bench = Bench()
    let caller = AuditEntry.Caller(
      user: 1000, process: 42, executable: "/opt/x y/\u{E9}\u{1F512}", application: "team.com.example.a")
    let entry = AuditEntry(
      at: -5, .refused, "item.read", by: caller, application: "team.com.example.b", group: "team.shared",
      because: "missingEntitlement")
    let end = try AuditLog(in: bench.state).append(entry, isSynced: true)
    let logged = try #require(try bench.entries().first)
    #expect(logged.entry == entry && logged.number == 1)
    #expect(end == AuditChain(number: 1, digest: logged.digest) && AuditChain(end.text) == end)
    let verification = try bench.verify()
    #expect(verification.problems.isEmpty && verification.count == 1 && verification.end == end)
  }

  @Test func nothingIsLoggedWhereNothingWas() throws {
    #expect(try AuditReading(of: Bench().state) == nil)
  }

  @Test func theFilesAreTheOwnersAlone() throws {
    let bench = Bench()
    let before = umask(0)
    defer { umask(before) }
    try bench.log(["a"])
    for name in ["", "head", try #require(bench.segments().first)] {
      let mode = try FileManager.default.attributesOfItem(atPath: bench.path(name))[.posixPermissions] as? Int
      #expect(mode == (name == "" ? 0o700 : 0o600), "\(name)")
    }
  }

  /// All control characters and separators, text that looks like an escape, and a line that would be the next entry.
  @Test func noTextMakesASecondEntry() throws {
    let bench = Bench()
    let controls = (0..<0xA0).compactMap { Unicode.Scalar(UInt32($0)) }.map { String($0) }.joined()
    let texts = [controls, "\\x0a", "\\", "a\r\nb", "\u{2028}\u{202E}", "\u{1B}[2J"]
    try bench.log(["first"])
    let line = try #require(bench.lines().first)
    for text in texts + ["x\n" + line.replacing("1\t", with: "2\t", maxReplacements: 1) + "\n"] {
      let caller = AuditEntry.Caller(user: 1, process: 1, executable: text, application: text)
      let entry = AuditEntry(at: 0, .allowed, text, by: caller, application: text, group: text, because: text)
      try AuditLog(in: bench.state).append(entry, isSynced: false)
      #expect(try bench.entries().last?.entry == entry)
    }
    let file = try bench.bytes(try #require(bench.segments().first))
    #expect(try file.filter { $0 < 0x20 && $0 != 9 && $0 != 10 }.isEmpty && bench.entries().count == 8)
    #expect(file.count { $0 == 10 } == 8 && file.count { $0 == 9 } == 8 * 12)
    #expect(try bench.problems() == [])
  }

  @Test func aTextThatIsTooLongIsAnError() throws {
    let bench = Bench()
    let log = try AuditLog(in: bench.state)
    let longest = String(repeating: "\u{7F}", count: AuditEntry.maximumFieldByteCount)
    try log.append(Bench.entry(longest, group: longest, because: longest), isSynced: false)
    #expect(throws: FileError(.tooLarge)) { try log.append(Bench.entry(longest + "x"), isSynced: false) }
    #expect(throws: FileError(.tooLarge)) { try log.append(Bench.entry("", group: longest + "x"), isSynced: false) }
    #expect(try bench.names() == [longest] && bench.problems() == [])
  }

  /// Beyond the maximum number of files the oldest are deleted, and a note in the chain records it.
  @Test func theChainGoesOnAcrossFilesAndTheOldestGo() throws {
    let bench = Bench()
    var limits = AuditLimits()
    limits.segmentByteCount = 2000
    limits.segmentCount = 4
    let log = try AuditLog(in: bench.state, limits: limits)
    let entry = Bench.entry("com.example.editor")
    var count = 0
    while try bench.segments().count < 3 {
      try log.append(entry, isSynced: false)
      count += 1
    }
    #expect(try bench.problems() == [] && bench.entries().count == count)
    while try bench.entries().first?.number == 1 {
      try log.append(entry, isSynced: false)
      try #require(try bench.segments().count <= 4)
    }
    #expect(try bench.problems() == [] && bench.segments().count == 4)
    #expect(try bench.entries().contains { $0.entry.decision == .noted && $0.entry.reason.hasPrefix("dropped ") })
    for name in try bench.segments() { #expect(try bench.bytes(name).count <= 2000) }
    // The numbers show how many entries there were.
    #expect(try bench.entries().last.map { try $0.number > UInt64(bench.entries().count) } == true)
    // Deleting one more is detected.
    try FileManager.default.removeItem(atPath: bench.path(try #require(bench.segments().first)))
    let first = try #require(try bench.entries().first)
    #expect(try bench.problems() == [.beginsLate(first.number)])
  }

  @Test func aChainThatWasKeptElsewhereIsContinuedOrNot() throws {
    let bench = Bench()
    try bench.log(["a", "b"])
    let kept = try #require(try bench.verify().end)
    try bench.log(["c"])
    #expect(try bench.verify(continuing: kept).problems == [])
    // Another log, consistent in itself, in its place.
    try FileManager.default.removeItem(atPath: bench.state)
    try bench.log(["a", "x", "c"])
    #expect(try bench.problems() == [])
    #expect(try bench.verify(continuing: kept).problems == [.notContinued(2)])
  }

  @Test func hostileTextIsNoChain() {
    let digest = String(repeating: "a", count: 64)
    #expect(AuditChain("1:\(digest)") != nil)
    for text in [
      "", ":", "1", "0:\(digest)", "1:\(digest)0", "1:\(digest.dropLast(2))", "-1:\(digest)", "1:\(digest):",
      "1:\(digest.uppercased())",
    ] {
      #expect(AuditChain(text) == nil, "\(text)")
    }
  }
}
