import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

/// Properties that only two processes can show. Each run is a process with its settings in a directory of the test.
@Suite struct ProcessTests {
  final class Probe {
    let home: URL
    let program: URL

    init() throws {
      home = FileManager.default.temporaryDirectory.appending(path: "coffer-probe-\(UUID())")
      try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
      let products = try #require(Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent())
      program = products.appending(path: "PreferenceProbe")
      try #require(FileManager.default.isExecutableFile(atPath: program.path), "\(program.path)")
    }

    deinit { try? FileManager.default.removeItem(at: home) }

    func process(_ arguments: [String], _ program: URL? = nil) -> Process {
      let process = Process()
      process.executableURL = program ?? self.program
      process.arguments = arguments
      var environment = ProcessInfo.processInfo.environment
      environment["COFFER_HOME"] = home.path
      // Disables backtraces, so that a crash ends the process at once.
      environment["SWIFT_BACKTRACE"] = "enable=no"
      process.environment = environment
      return process
    }

    /// Returns the standard output and the standard error.
    func run(_ arguments: String..., as program: URL? = nil) throws -> (output: String, errors: String, process: Process) {
      var process = process(arguments, program)
      let (output, errors) = (Pipe(), Pipe())
      for attempt in 1... {
        process.standardOutput = output
        process.standardError = errors
        do {
          try process.run()
          break
        } catch  where attempt < 100 && "\(error)".contains("Code=\(ETXTBSY) ") {
          // Another test has forked while this program was being copied, so that a child has it open for a moment.
          usleep(20_000)
          process = self.process(arguments, program)
        }
      }
      let text = try output.fileHandleForReading.readToEnd() ?? Data()
      let said = try errors.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (
        String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines), String(decoding: said, as: UTF8.self), process
      )
    }
  }

  @Test("a value set by one run is read by the next")
  func acrossLaunches() throws {
    let probe = try Probe()
    _ = try probe.run("set", "standard", "value", "k")
    #expect(try probe.run("get", "standard", "k").output == "String value")
  }

  @Test("a value survives a kill right after it was set")
  func killed() throws {
    let probe = try Probe()
    #expect(try probe.run("kill", "standard", "value", "k").process.terminationReason == .uncaughtSignal)
    #expect(try probe.run("get", "standard", "k").output == "String value")
  }

  @Test("a process and one that it forks off lose none of each other's values")
  func forked() throws {
    let (output, errors, _) = try Probe().run("fork", "com.example.forked")
    #expect(output == "0 4000")
    #expect(errors.isEmpty)
  }

  @Test("another registered value in the next version is read")
  func registeredAnew() throws {
    let probe = try Probe()
    #expect(try probe.run("register", "standard", "greeting", "こんにちは").output == "こんにちは")
    #expect(try probe.run("get", "standard", "greeting").output == "nil")
    #expect(try probe.run("register", "standard", "greeting", "さようなら").output == "さようなら")
    #expect(try probe.run("register", "standard", "flag", "true").output == "1")
    #expect(try probe.run("register", "standard", "flag", "false").output == "0")
  }

  @Test("a value that was set because there was none stays in the next version")
  func setIfMissing() throws {
    let probe = try Probe()
    #expect(try probe.run("seed", "standard", "k", "first", "first").output == "first")
    #expect(try probe.run("seed", "standard", "k", "second", "second").output == "first")
  }

  @Test("a stored value of another type is reported once, and left as it is")
  func reported() throws {
    let probe = try Probe()
    _ = try probe.run("set", "standard", "text", "k")
    let (output, errors, _) = try probe.run("wrap", "standard", "k")
    #expect(output == "7 7 7 7 7 7")
    #expect(errors.components(separatedBy: "the value of k is not of type Int").count == 2, "\(errors)")
    #expect(!errors.contains("text"))
    #expect(try probe.run("get", "standard", "k").output == "String text")
  }

  @Test("the standard settings of two programs are two")
  func twoPrograms() throws {
    let probe = try Probe()
    let other = probe.home.appending(path: "OtherProbe")
    try FileManager.default.copyItem(at: probe.program, to: other)
    _ = try probe.run("set", "standard", "one", "k")
    _ = try probe.run("set", "standard", "two", "k", as: other)
    #expect(try probe.run("get", "standard", "k").output == "String one")
    #expect(try probe.run("get", "standard", "k", as: other).output == "String two")
    let names = try FileManager.default.contentsOfDirectory(atPath: probe.home.appending(path: "Preferences").path)
    #expect(names.contains { $0.hasPrefix("PreferenceProbe.") })
    #expect(names.contains { $0.hasPrefix("OtherProbe.") })
  }

  @Test("a suite is the same place for two programs")
  func suite() throws {
    let probe = try Probe()
    let other = probe.home.appending(path: "WidgetProbe")
    try FileManager.default.copyItem(at: probe.program, to: other)
    _ = try probe.run("set", "group.example", "42", "number")
    #expect(try probe.run("get", "group.example", "number", as: other).output == "String 42")
    #expect(try probe.run("get", "standard", "number", as: other).output == "nil")
    #expect(try probe.run("get", "../escape", "number").output == "no such store")
  }

  @Test("another program reads a value within a millisecond, this one at once")
  func latency() throws {
    let probe = try Probe()
    let store = try #require(try StoreFixture(root: probe.home).suite("group.example"))
    store.set(0, forKey: "k")
    let follower = probe.process(["follow", "group.example", "k"])
    let output = Pipe()
    follower.standardOutput = output
    try follower.run()
    #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "ready\n")
    while follower.isRunning {
      let now = Int(DispatchTime.now().uptimeNanoseconds)
      store.set(now, forKey: "k")
      #expect(store.integer(forKey: "k") == now)
      usleep(2000)
    }
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let delays = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    try #require(delays.count == 3)
    // The 10th percentile excludes runs in which a program waited for a processor, which depends on the machine; a wait for the
    // disk or a timer would be in every run. The benchmark measures on a quiet machine.
    #expect(delays[0] <= 1_000_000, "10th percentile \(delays[0]) ns")
    print("preferences: read by another program after \(delays[1] / 1000) µs, 99th percentile \(delays[2] / 1000) µs")
  }

  @Test("without any file the program starts on its defaults")
  func deleted() throws {
    let probe = try Probe()
    _ = try probe.run("set", "standard", "own", "k")
    #expect(try probe.run("register", "standard", "k", "default").output == "own")
    try FileManager.default.removeItem(at: probe.home)
    #expect(try probe.run("register", "standard", "k", "default").output == "default")
    _ = try probe.run("set", "standard", "new", "k")
    #expect(try probe.run("register", "standard", "k", "default").output == "new")
  }

  @Test("another program hears of a change, and an argument is only its own")
  func watching() throws {
    let probe = try Probe()
    let watcher = probe.process(["watch", "group.example", "k"])
    let (input, output) = (Pipe(), Pipe())
    watcher.standardInput = input
    watcher.standardOutput = output
    try watcher.run()
    var lines = ""
    func read(until text: String) {
      while !lines.contains(text) {
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { return }
        lines += String(decoding: data, as: UTF8.self)
      }
    }
    read(until: "ready")
    _ = try probe.run("set", "group.example", "value", "k")
    read(until: "notified true")
    if !lines.contains("otherProcess value") { read(until: "otherProcess value") }
    try input.fileHandleForWriting.close()
    watcher.waitUntilExit()
    #expect(lines.contains("otherProcess value"))
    #expect(lines.contains("notified true"))
    #expect(try probe.run("get", "group.example", "k", "-k", "argument").output == "String argument")
    #expect(try probe.run("get", "group.example", "k").output == "String value")
  }

  @Test("ten thousand reads make no system call")
  func noSystemCalls() throws {
    let strace = URL(filePath: "/usr/bin/strace")
    try #require(FileManager.default.isExecutableFile(atPath: strace.path), "strace is missing")
    let probe = try Probe()
    _ = try probe.run("set", "standard", "1", "k")
    let trace = probe.home.appending(path: "trace")
    let result = try probe.run("-o", trace.path, probe.program.path, "read", "standard", "k", as: strace)
    #expect(result.output.hasSuffix("end 10000"))
    // The reading thread makes no system calls between the two lines that it writes.
    let calls = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
    let begin = try #require(calls.firstIndex { $0.hasPrefix("write(1, \"begin") })
    let end = try #require(calls.firstIndex { $0.hasPrefix("write(1, \"end") })
    #expect(end == begin + 1, "\(calls[begin...end])")
  }

  @Test(arguments: [("journal", "journal"), ("plist", "property list")])
  func diagnosticsNameQuarantinedFiles(file: String, name: String) throws {
    let probe = try Probe()
    _ = try probe.run("set", "group.example", "1", "a")
    let preferences = probe.home.appending(path: "Preferences")
    try Data("damaged".utf8).write(to: preferences.appending(path: "group.example.\(file)"))
    let errors = try probe.run("set", "group.example", "2", "b").errors
    let path = preferences.appending(path: "group.example.\(file).corrupt-").path
    #expect(errors.contains("the \(name) of group.example was damaged; it was put aside as \(path)"), "\(errors)")
  }

  @Test("the last message is written before the process ends, even if that takes a while")
  func theLastMessageIsAwaited() throws {
    let strace = URL(filePath: "/usr/bin/strace")
    try #require(FileManager.default.isExecutableFile(atPath: strace.path), "strace is missing")
    let probe = try Probe()
    _ = try probe.run("set", "group.example", "1", "a")
    // The damage is found by the last export, at the end of the process.
    try Data("damaged".utf8).write(to: probe.home.appending(path: "Preferences/group.example.plist"))
    let result = try probe.run(
      "-f", "-q", "-o", "/dev/null", "-e", "inject=write:delay_enter=50000", probe.program.path,
      "set", "group.example", "2", "b", as: strace)
    #expect(result.errors.contains("was damaged; it was put aside"), "\(result.errors)")
  }

  @Test("messages of the store go to standard error")
  func diagnostics() throws {
    let probe = try Probe()
    let result = try probe.run("write", "standard")
    #expect(result.output == "done")
    #expect(result.errors.contains("coffer.preferences"))
    #expect(result.errors.contains("valueTooLarge"))
  }
}
