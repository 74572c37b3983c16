import Children
import CofferPreferences
import CofferPropertyLists
import Glibc
import Testing

/// Each system call is the last one in turn, or fails.
@Suite struct SystemCallTests {
  /// One way to change the files.
  struct Operation: CustomTestStringConvertible {
    let testDescription: String
    let command: String
    /// The values of the key `a` before and after.
    var old = "1"
    var new = "1"
    /// Changes the files while the process has them open, just after it has verified them.
    var prepare: @Sendable (Place) -> Void = { _ in }
    var mayKeepDamage = false
  }

  static let operations: [Operation] = [
    Operation(testDescription: "set", command: "set a new", new: "new"),
    Operation(testDescription: "removal", command: "remove a", new: "nil"),
    Operation(testDescription: "large set", command: "big a 100000", new: String(repeating: "x", count: 100_000)),
    Operation(testDescription: "checkpoint", command: "checkpoint"),
    Operation(testDescription: "compaction", command: "compact"),
    Operation(testDescription: "synchronize", command: "sync"),
    Operation(
      testDescription: "checkpoint over a damaged property list", command: "checkpoint",
      prepare: { write(Array("<plist>".utf8), to: $0.plist) }, mayKeepDamage: true),
    Operation(
      testDescription: "set where the journal was cut off", command: "set a new", new: "new",
      prepare: {
        unsafe truncate($0.journal, 100)
        usleep(120_000)
      }, mayKeepDamage: true),
    Operation(
      testDescription: "set where the journal was deleted", command: "set a new", new: "new",
      prepare: {
        unsafe unlink($0.journal)
        usleep(120_000)
      }),
  ]

  /// A place with values in the property list, and others in the journal only.
  private func place() -> Place {
    let place = Place()
    #expect(place.write("fill k 30", "set a 0", "checkpoint", "set a 1", "set c 3") == Array(repeating: "ok", count: 5))
    return place
  }

  /// Copies the files of a place, for many cases.
  private func copy(_ place: Place, to new: Place) {
    new.clear()
    for name in place.names { write(read("\(place.path)/\(name)") ?? [], to: "\(new.path)/\(name)") }
  }

  private func check(_ place: Place, _ operation: Operation, _ allowed: [String], _ comment: String) throws {
    for round in 0..<2 {
      let domain = try place.domain()
      #expect(domain.problem == nil, "\(comment)")
      let values = domain.values()
      #expect(values.count == (values["a"] == nil ? 32 : 33), "\(comment): \(values.count)")
      #expect(values["b"]?.text == "2" && values["c"]?.text == "3" && values["k-29"] == .integer(29), "\(comment)")
      let a = values["a"]?.text ?? "nil"
      #expect(allowed.contains(a), "\(comment): \(a.prefix(20))")
      guard round == 0 else { continue }
      // The domain works afterwards.
      try domain.checkpoint()
      #expect(place.values() == values, "\(comment)")
    }
    if !operation.mayKeepDamage { #expect(!place.names.contains { $0.contains("corrupt") }, "\(comment): \(place.names)") }
  }

  private func run(_ operation: Operation, in place: Place, then: [String] = [], _ options: [String]) -> Tracer {
    Tracer(
      place, before: ["set b 2"], prepare: { operation.prepare(place) }, [operation.command], then: then, options: options)
  }

  // If the journal was deleted, and the one process with its values dies, the values are lost.
  @Test(arguments: operations.filter { !$0.testDescription.contains("journal") }) func killedAtEachCall(operation: Operation)
    throws
  {
    let original = place()
    let place = Place()
    copy(original, to: place)
    let counts = run(operation, in: place, []).counts
    #expect(counts["flock"] ?? 0 > 0 || operation.command == "sync", "\(counts)")
    var kills = 0
    for (call, count) in counts {
      for number in 1...count {
        copy(original, to: place)
        let trace = run(operation, in: place, ["-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(number)"])
        if trace.answers == ["died"] { kills += 1 }
        let allowed = trace.answers == ["ok"] ? [operation.new] : [operation.old, operation.new]
        try check(place, operation, allowed, "\(operation.testDescription), \(call) \(number)")
      }
    }
    #expect(kills > 0)
  }

  @Test(arguments: operations) func anErrorAtEachCall(operation: Operation) throws {
    let original = place()
    let place = Place()
    copy(original, to: place)
    let counts = run(operation, in: place, []).counts
    let errors = isLong ? ["EIO", "ENOSPC", "EMFILE", "EINTR", "EACCES", "ENOMEM"] : ["EIO", "ENOSPC"]
    var failures = 0
    // Some calls never fail: an error of geteuid(2) would be another user.
    for (call, count) in counts where !["sched_yield", "clock_nanosleep", "gettid", "geteuid"].contains(call) {
      for error in errors {
        for number in 1...count {
          copy(original, to: place)
          let comment = "\(operation.testDescription), \(error) of \(call) \(number)"
          let trace = run(
            operation, in: place, then: ["get a", operation.command, "get a"],
            ["-e", "trace=\(call)", "-e", "inject=\(call):error=\(error):when=\(number)"])
          guard trace.answers.count == 4 else {
            Issue.record("\(comment): \(trace.answers)")
            continue
          }
          if trace.answers[0] == "ok" {
            #expect(trace.answers[1] == operation.new, "\(comment)")
          } else {
            failures += 1
            // Nothing has changed.
            #expect(trace.answers[1] == operation.old, "\(comment): \(trace.answers[0])")
          }
          // The same process works when the cause has gone.
          #expect(trace.answers[2] == "ok" && trace.answers[3] == operation.new, "\(comment): \(trace.answers[2])")
          try check(place, operation, [operation.new], comment)
        }
      }
    }
    #expect(failures > 0)
  }

  @Test("synchronize returns only when the value is on the disk") func synchronizeSyncs() throws {
    let place = place()
    let trace = Tracer(place, before: [], ["set a 5", "sync"], options: ["-e", "trace=pwrite64,fdatasync,fsync,write"])
    #expect(trace.answers == ["ok", "ok"])
    let written = try #require(trace.calls.lastIndex { $0.contains("pwrite64(") && $0.contains(".journal>") })
    let synced = try #require(trace.calls.lastIndex { $0.contains("fdatasync(") && $0.contains(".journal>") })
    let answered = try #require(trace.calls.lastIndex { $0.contains("write(1") })
    #expect(written < synced && synced < answered)
  }

  @Test func aFailedSyncIsNotTriedAgain() throws {
    let place = place()
    let trace = Tracer(
      place, before: ["set a 5"], ["sync", "sync", "get a"],
      options: ["-e", "trace=fdatasync,fsync,rename", "-e", "inject=fdatasync:error=EIO:when=1"])
    #expect(trace.answers == ["io", "ok", "5"])
    // Another file was written instead, and is on the disk.
    let failed = try #require(trace.calls.firstIndex { $0.contains("EIO") })
    #expect(!trace.calls[(failed + 1)...].contains { $0.contains("fdatasync(") }, "\(trace.calls)")
    let placed = try #require(trace.calls.firstIndex { $0.contains("rename(") && $0.contains("com.example.app.journal\"") })
    #expect(trace.calls[failed..<placed].contains { $0.contains("fsync(") && $0.contains(".new>") })
    #expect(try place.domain().value(forKey: "a") == .string("5"))
  }

  @Test("a value is on the disk within 300 ms, without being asked for") func theLossWindow() throws {
    let place = place()
    // On a busy machine the thread may have to wait for a processor, so try again with more time.
    var taken: [Double?] = []
    while (taken.last ?? nil) ?? 1 >= 0.3, taken.count < 20 {
      let trace = Tracer(
        place, before: ["watch", "sleep 50"], ["set a \(taken.count)x", "sleep \(500 * (taken.count + 1))"],
        options: ["-e", "trace=pwrite64,fdatasync"])
      func time(_ mark: String) -> Double? {
        trace.calls.first { $0.contains(mark) && $0.contains(".journal>") }.flatMap { Double($0.split(separator: " ")[1]) }
      }
      if let written = time("pwrite64("), let synced = time("fdatasync(") {
        taken.append(synced - written)
      } else {
        taken.append(nil)
      }
    }
    let last = try #require(taken.last ?? nil, "never: \(taken)")
    #expect(last < 0.3, "seconds after the write: \(taken)")
    print("preferences: on the disk \(Int(last * 1000)) ms after the write")
  }
}
