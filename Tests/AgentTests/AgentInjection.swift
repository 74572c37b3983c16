import Foundation
import SystemBench
import Testing
import Waiting

/// A system call of the system's agent at which strace kills it, or lets it fail, while a command of its user is carried out.
struct AgentInjection {
  /// How many of the calls an agent is killed before, unless `make trust` tries each: a kill and its checks start a dozen processes.
  private static let pointCount = unsafe getenv("COFFER_TRUST") == nil ? 3 : Int.max

  let bench: SystemBench
  let call: String
  /// Unlocks the vault. As all scripts, it runs in the home of the user.
  let unlock: String

  struct Traced {
    let outcome: Child.Outcome
    let trace: String
    /// Whether the call was disturbed.
    var isInjected: Bool { trace.contains("INJECTED") || trace.contains("killed by SIGKILL") }
  }

  @discardableResult private func shell(_ script: String, as user: UInt32? = nil) throws -> Child.Outcome {
    try bench.run("/bin/sh", ["-c", "cd \(bench.home.path); \(script)"], as: user)
  }

  /// Runs a script of the user while the agent is traced.
  /// - Parameter rule: The injection, such as `error=ENOSPC:when=1+`; nil: nothing is disturbed.
  func run(_ script: String, _ rule: String?) throws -> Traced {
    // A lock brings the log into the file, and closes it: after that the agent writes nothing by itself.
    let locked = try shell("\(unlock) && coffer vault lock")
    try #require(locked.status == 0, "\(locked)")
    let vault = bench.state.path + "/vault.coffer"
    try wait(for: "the file to be closed") { try shell("[ ! -e \(vault)-wal ] && [ ! -e \(vault)-shm ]", as: 0).status == 0 }
    let trace = bench.directory.path + "/trace"
    let injection = rule.map { ["-e", "inject=\(call):\($0)"] } ?? []
    let tracer = try bench.command(
      "/usr/bin/strace", ["-f", "-qq", "-o", trace, "-p", "\(bench.agentProcess)", "-e", "trace=\(call)"] + injection, as: 0)
    let status = "/proc/\(bench.agentProcess)/status"
    try wait(for: "the tracer, or the end of the agent by a late write of the lock") {
      try shell("grep -c -e '^TracerPid:.*[1-9]' -e '^State:.*Z' \(status)", as: 0).output != "0\n"
    }
    // The socket is there without an agent, and nothing would answer.
    let outcome = try shell("timeout -s KILL 120 sh -c '\(script)'")
    // strace waits for ever for a leader whose threads have been killed and that it has not reaped when the signal comes.
    tracer.end(by: SIGINT, within: 60_000)
    return Traced(outcome: outcome, trace: try shell("cat \(trace)", as: 0).output)
  }

  /// Kills the agent at points of a script, each time with the vault that is here, and starts it again. A first run is not disturbed, and
  /// counts the calls.
  /// - Parameter check: Gets the outcome of the script, and words for messages.
  func kill(in script: String, check: (Child.Outcome, String) throws -> Void) throws {
    let (state, copy) = (bench.state.path, bench.directory.path + "/copy")
    bench.stop()
    try shell("rm -rf \(copy); cp -a \(state) \(copy)", as: 0)
    func runAnew(_ rule: String?) throws -> Traced {
      bench.stop(SIGKILL)
      try shell("rm -rf \(state); cp -a \(copy) \(state)", as: 0)
      try bench.start()
      return try run(script, rule)
    }
    let undisturbed = try runAnew(nil)
    #expect(undisturbed.outcome.status == 0, "\(undisturbed.outcome)")
    let count = undisturbed.trace.split(separator: "\n").count { $0.contains(" \(call)(") }
    var kills = 0
    for when in Self.points(of: count) {
      let killed = try runAnew("signal=SIGKILL:when=\(when)")
      kills += killed.isInjected ? 1 : 0
      bench.stop(SIGKILL)
      try bench.start()
      try check(killed.outcome, "\(call) \(when) of \(count)")
    }
    #expect(kills > 0, "\(call): the agent never got there")
  }

  /// The numbers, from 1, of calls at even distances, the first and the last among them.
  private static func points(of count: Int) -> [Int] {
    guard count > pointCount else { return Array(0..<count).map { $0 + 1 } }
    return (0..<pointCount).map { 1 + $0 * (count - 1) / (pointCount - 1) }
  }
}
