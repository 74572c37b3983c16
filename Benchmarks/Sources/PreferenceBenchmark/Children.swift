import CofferPropertyLists
import Foundation
import PreferenceStore

/// Measurements that need a process of their own, in which this program is run again.
enum Children {
  static func run(_ arguments: [String], while body: (Process) throws -> Void = { _ in }) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    try body(process)
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  /// Nanoseconds until the first value is read, without the time to start a process.
  static func open(_ contender: String, _ suite: String, _ directory: String) throws -> Double {
    guard let time = Double(try run(["open", contender, suite, directory])) else { throw BenchmarkError("open \(suite)") }
    return time
  }

  /// Nanoseconds until an observer in another process is notified of a change.
  static func latencies(_ count: Int) throws -> Samples {
    let defaults = PreferenceStore.UserDefaults(suiteName: "bench.latency")!
    defaults.set(0, forKey: "ready")
    let output = try run(["latency", "bench.latency"]) { _ in
      while defaults.integer(forKey: "ready") == 0 { usleep(1000) }
      for _ in 0..<count {
        defaults.set(Samples.now(), forKey: "time")
        usleep(2000)
      }
      defaults.set(-1, forKey: "time")
    }
    var samples = Samples()
    for line in output.split(separator: "\n") { if let value = Double(line) { samples.append(.nanoseconds(value)) } }
    return samples
  }

  /// - Returns: Whether this process is such a child.
  static func serve(_ arguments: [String]) throws -> Bool {
    switch arguments.first {
    case "open":
      let start = Samples.now()
      let store: any Contender =
        switch arguments[1] {
        case Coffer.name: try Coffer(arguments[2], in: arguments[3])
        case FoundationDefaults.name: try FoundationDefaults(arguments[2], in: arguments[3])
        default: try SQLiteTable(arguments[2], in: arguments[3])
        }
      guard store.get("key.1") != 0 else { throw BenchmarkError("no value") }
      print(Samples.now() - start)
      return true
    case "latency":
      let defaults = PreferenceStore.UserDefaults(suiteName: arguments[1])!
      let times = Locked<[Int]>([])
      let end = DispatchSemaphore(value: 0)
      let observation = defaults.observe("time") { change in
        let now = Samples.now()
        guard case .integer(let sent)? = change.newValue else { return }
        if sent < 0 { end.signal() } else { times.withLock { $0.append(now - Int(sent)) } }
      }
      defaults.set(1, forKey: "ready")
      end.wait()
      observation.cancel()
      print(times.withLock { $0 }.map(String.init).joined(separator: "\n"))
      return true
    default: return false
    }
  }
}
