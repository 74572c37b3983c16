import Testing

/// A command that strace kills, or lets fail, at one system call after the other. A script checks what it has left.
struct Injection {
  /// `signal=SIGKILL`, or an error such as `error=ENOSPC`.
  let end: String
  /// The system calls, each of which is tried from its first call to its last.
  let calls: [String]
  /// Those that the command must make.
  let mustReach: [String]
  /// The number of the call after this one: not each of some hundred that write pages.
  var next: (Int) -> Int = { $0 + 1 }

  /// Runs `script` with the variables `call`, `when` and `end`, and `inject`, the words before the command to be disturbed. It prints what
  /// is wrong, and ends with 3 if the command was not disturbed because it does not make so many calls.
  /// - Returns: what is wrong.
  func faults(of script: String, in workspace: Workspace) throws -> [String] {
    var faults: [String] = []
    var reached: [String: Int] = [:]
    for call in calls {
      var when = 1
      while when < 5000 {
        let words =
          "call=\(call) when=\(when) end=\(end); inject=\"strace -f -qq -o trace -e trace=$call -e inject=$call:$end:when=$when\""
        let outcome = try workspace.run(script: "\(words)\n\(script)")
        if outcome.output + outcome.errors != "" { faults.append("\(call) \(when): \(outcome.output)\(outcome.errors)") }
        guard outcome.status == 0 else {
          if outcome.status != 3 { faults.append("\(call) \(when): the script has ended with \(outcome.status ?? -1)") }
          break
        }
        reached[call] = when
        when = next(when)
      }
    }
    for call in mustReach where reached[call] == nil { faults.append("\(call): the command never got there") }
    return faults
  }
}
