import AppContainers
import CofferAudit
import CofferFiles
import Foundation
import Testing

/// Writers that are killed, that write concurrently, or that write to a full disk.
@Suite struct CrashTests {
  /// The last entry is truncated at every byte, as by a crash during a write: this is noted, the bytes are kept, and the chain is
  /// not broken.
  @Test func anEntryThatWasNotFinishedIsNotedAndKept() throws {
    let bench = Bench()
    try bench.log(["one"])
    let before = try (bench.bytes("head"), bench.bytes(bench.segments()[0]))
    try bench.log(["two"])
    let whole = try bench.bytes(bench.segments()[0])
    for length in (before.1.count + 1)..<whole.count {
      try bench.write(before.0, "head")
      try bench.write(Array(whole[..<length]), bench.segments()[0])
      let torn = try bench.verify()
      // The line is complete even without its end.
      let isWhole = length == whole.count - 1
      #expect(torn.problems == [] && torn.unfinishedCount == (isWhole ? 0 : 1), "\(length)")
      try bench.log(["three"])
      let verification = try bench.verify()
      #expect(verification.problems == [] && verification.unfinishedCount == (isWhole ? 0 : 1), "\(length)")
      #expect(try bench.names() == (isWhole ? ["one", "two", "three"] : ["one", "", "three"]), "\(length)")
      #expect(try bench.bytes(bench.segments()[0]).starts(with: whole[..<length]))
      guard !isWhole else { continue }
      // The unfinished bytes are part of the chain.
      var spoiled = try bench.bytes(bench.segments()[0])
      spoiled[before.1.count] ^= 1
      try bench.write(spoiled, bench.segments()[0])
      #expect(try bench.problems() == [.unreadable(after: 1)], "\(length)")
    }
  }

  /// Truncated again while the note is written, at every byte.
  @Test func aNoteThatWasNotFinishedIsNotedToo() throws {
    let bench = Bench()
    try bench.log(["one"])
    let head = try bench.bytes("head")
    let torn = try bench.bytes(bench.segments()[0]) + Array("2\t1\tallo".utf8)
    try bench.write(torn, bench.segments()[0])
    try bench.log(["two"])
    let whole = try bench.bytes(bench.segments()[0])
    for length in torn.count..<whole.count {
      try bench.write(head, "head")
      try bench.write(Array(whole[..<length]), bench.segments()[0])
      try bench.log(["three"])
      #expect(try bench.problems() == [] && bench.names().last == "three", "\(length)")
    }
  }

  private func start(_ bench: Bench, _ count: Int, _ name: String) throws -> (Process, Pipe) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "AuditWriter")
    process.arguments = [bench.state, "\(count)", name]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    return (process, pipe)
  }

  private func acknowledged(_ pipe: Pipe) throws -> [String] {
    String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
  }

  @Test func severalProcessesLoseNothing() throws {
    let bench = Bench()
    let writers = try (0..<4).map { try start(bench, 300, "w\($0)") }
    var lines: [String] = []
    for (process, pipe) in writers {
      lines += try acknowledged(pipe)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    #expect(try bench.problems() == [])
    let entries = try bench.entries()
    #expect(entries.count == 1200 && lines.count == 1200)
    // Each number was given to exactly one entry.
    #expect(Set(entries.map { "\($0.number) \($0.entry.application)" }) == Set(lines))
  }

  @Test func aKilledWriterLosesNothingAcknowledged() throws {
    let bench = Bench()
    var lines: [String] = []
    for round in 0..<15 {
      let (process, pipe) = try start(bench, 1_000_000, "r\(round)")
      // Wait until it has written some entries.
      let first = try #require(try pipe.fileHandleForReading.read(upToCount: 1 + 97 * round))
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      let rest = try pipe.fileHandleForReading.readToEnd() ?? Data()
      lines += String(decoding: first + rest, as: UTF8.self).split(separator: "\n").map(String.init)
    }
    #expect(try bench.problems() == [] && !lines.isEmpty)
    let found = try Set(bench.entries().map { "\($0.number) \($0.entry.application)" })
    #expect(Set(lines).isSubset(of: found))
  }

  @Test func threadsOfOneProcessShareALog() throws {
    let bench = Bench()
    let log = try AuditLog(in: bench.state)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for index in 0..<50 { _ = try? log.append(Bench.entry("\(thread) \(index)"), isSynced: false) }
    }
    #expect(try bench.problems() == [] && Set(bench.names()).count == 400)
  }

  /// With a limited file size, a write is short or refused, as on a full disk. Afterwards no part of the entry is left.
  @Test func onAFullDiskItIsAnErrorAndNothingIsLeft() throws {
    let bench = Bench()
    try bench.log(["one"])
    let before = try bench.bytes(bench.segments()[0])
    let program = try #require(Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "AuditWriter").path)
    for room in [0, 1, 20, 100] {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/prlimit")
      process.arguments = ["--fsize=\(before.count + room)", "env", "--ignore-signal=XFSZ", program, bench.state, "1", "x"]
      let errors = Pipe()
      process.standardError = errors
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 1, "\(room)")
      #expect(try output.fileHandleForReading.readToEnd() ?? Data() == Data())
      #expect(try bench.bytes(bench.segments()[0]) == before && bench.verify().unfinishedCount == 0, "\(room)")
    }
    try bench.log(["two"])
    #expect(try bench.problems() == [] && bench.names() == ["one", "two"])
  }

  /// An entry costs a lock and its release, two reads, and two writes; no sync, unless its operation requires one.
  @Test func anEntryCostsFewCalls() throws {
    let bench = Bench()
    try bench.log(["first"])
    let program = try #require(Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "AuditWriter").path)
    func count(_ entries: Int) throws -> [String: Int] {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/strace")
      let calls = "openat,flock,pread64,pwrite64,write,fstat,newfstatat,fsync,fdatasync,getdents64"
      process.arguments = [
        "-f", "-qq", "-o", bench.state + "/trace", "-e", "trace=\(calls)", program, bench.state, "\(entries)", "x",
      ]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0)
      let lines = try String(contentsOfFile: bench.state + "/trace", encoding: .utf8).split(separator: "\n")
      return lines.reduce(into: [:]) { counts, line in
        guard let name = line.split(separator: " ").last(where: { $0.contains("(") })?.prefix(while: { $0 != "(" }) else {
          return
        }
        counts[calls.split(separator: ",").first { line.contains(" \($0)(") }.map(String.init) ?? String(name), default: 0] += 1
      }
    }
    let (few, many) = (try count(10), try count(60))
    // One of the writes is the acknowledgement.
    let expected = ["flock": 2, "pread64": 1, "pwrite64": 1, "write": 2]
    for call in ["openat", "flock", "pread64", "pwrite64", "write", "fsync", "fdatasync", "getdents64"] {
      #expect(many[call, default: 0] - few[call, default: 0] == 50 * expected[call, default: 0], "\(call)")
    }
  }

  @Test func aLogThatCannotBeWrittenIsAnError() throws {
    let bench = Bench()
    try FileManager.default.createDirectory(atPath: bench.state, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: bench.state + "/audit", withDestinationPath: "/dev/null")
    #expect(throws: (any Error).self) { try bench.log(["one"]) }
    try FileManager.default.removeItem(atPath: bench.state + "/audit")
    try FileManager.default.createDirectory(atPath: bench.path(""), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: bench.path("head"), withIntermediateDirectories: true)
    #expect(throws: FileError(.notAFile)) { try bench.log(["one"]) }
  }
}
