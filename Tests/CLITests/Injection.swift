import Glibc
import Testing

/// A command that strace kills, or lets fail, at one of its system calls. A script checks what it has left.
struct Injection {
  /// How many calls of one kind are tried, unless `make trust` tries each: the command and its checks start a dozen processes.
  private static let pointCount = unsafe getenv("COFFER_TRUST") == nil ? 4 : Int.max

  /// `signal=SIGKILL`, or an error such as `error=ENOSPC`.
  let end: String
  /// The system calls, from the first of each kind to the last.
  let calls: [String]
  /// Those that the command must make.
  let mustReach: [String]

  /// The numbers, from 1, of calls at even distances, the first and the last among them.
  static func points(of count: Int, most: Int = pointCount) -> [Int] {
    guard count > most else { return Array(0..<count).map { $0 + 1 } }
    return (0..<most).map { 1 + $0 * (count - 1) / (most - 1) }
  }

  /// Runs `script` with the variables `call`, `when` and `end`, and `inject`, the words before the command to be disturbed. It prints what
  /// is wrong, and ends with 3 if the command was not disturbed because it does not make so many calls. The first run is not disturbed, and
  /// counts the calls.
  /// - Returns: what is wrong.
  func faults(of script: String, in workspace: Workspace) throws -> [String] {
    var faults: [String] = []
    for call in calls {
      func run(_ when: Int, _ injection: String) throws -> Int32? {
        let words = "call=\(call) when=\(when) end=\(end); inject=\"strace -f -qq -o trace -e trace=\(call)\(injection)\""
        let outcome = try workspace.run(script: "\(words)\n\(script)")
        if outcome.output + outcome.errors != "" { faults.append("\(call) \(when): \(outcome.output)\(outcome.errors)") }
        if outcome.status != 0, outcome.status != 3 {
          faults.append("\(call) \(when): the script has ended with \(outcome.status ?? -1)")
        }
        return outcome.status
      }
      _ = try run(0, "")
      var reached = 0
      for when in Self.points(of: Self.count(of: call, in: try Workspace.read("\(workspace.path)/trace"))) {
        if try run(when, " -e inject=\(call):\(end):when=\(when)") == 0 { reached += 1 }
      }
      if mustReach.contains(call), reached == 0 { faults.append("\(call): the command never got there") }
    }
    return faults
  }

  /// The most calls of one thread: strace numbers those of each.
  private static func count(of call: String, in trace: String) -> Int {
    var counts: [Substring: Int] = [:]
    for line in trace.split(separator: "\n") {
      // The number of the thread, with five digits or spaces, and the call.
      let words = line.split(separator: " ")
      guard words.count > 1, call.split(separator: ",").contains(where: { words[1].hasPrefix("\($0)(") }) else { continue }
      counts[words[0], default: 0] += 1
    }
    return counts.values.max() ?? 0
  }
}
