import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import SystemBench
import Testing
import VaultCore
import Waiting

@testable import Coffer

/// An agent that was stopped, and one that takes its time.
@Suite(.timeLimit(.minutes(15))) struct StoppedAgentTests {
  static let commands: [[String]] = [
    ["secret", "get", "mail/ada", "--no-input"], ["secret", "set", "mail/bob", "--no-input"], ["secret", "list", "--no-input"],
    ["vault", "status"], ["vault", "lock"], ["vault", "unlock", "--key-file", "key"], ["agent", "status"], ["agent", "stop"],
  ]

  /// It used to take 60 s, and 540 s for an app; then `agent status` said "none", and `secret get` asked for the passphrase.
  @Test func eachCommandSaysThatItDoesNotAnswer() throws {
    let bench = try DaemonBench()
    try bench.unlock()
    #expect(try bench.coffer(["secret", "set", "mail/ada"], input: "x").status == 0)
    try bench.stop()
    defer { kill(bench.processNumber, SIGCONT) }
    for command in Self.commands {
      let start = ContinuousClock.now
      let result = try bench.coffer(command, input: "y")
      #expect(result.status == 12 && result.output == "", "\(command): \(result)")
      // Two seconds, on a machine that has nothing else to do.
      #expect(start.duration(to: .now) < .seconds(40), "\(command)")
    }
  }

  @Test func aConnectionThatIsOpenNoticesToo() throws {
    let bench = try DaemonBench()
    let keychain = try Keychain.connect(toAgentAt: bench.places.agentSocket)
    try keychain.unlock(with: .throwAway())
    try bench.stop()
    let large = Item(service: "mail", account: "large")
    #expect(throws: KeychainError(.agentNotAnswering)) { _ = try keychain.isLocked }
    #expect(throws: KeychainError(.agentNotAnswering)) { try keychain.add(large, secret: Secret(count: 1 << 20)) }
    kill(bench.processNumber, SIGCONT)
    // The large one was never sent. The connection is made anew.
    #expect(try !keychain.isLocked)
  }

  /// Living and busy: another process writes, for longer than a look at the agent takes.
  @Test func oneThatTakesItsTimeIsWaitedFor() async throws {
    let bench = try DaemonBench()
    try bench.unlock()
    let store = try FileStore(at: bench.places.vault)
    let start = ContinuousClock.now
    try store.commit { _ in
      let process = bench.command(AgentBench.program("coffer").path, ["secret", "set", "mail/ada"])
      let input = Pipe()
      process.standardInput = input
      try process.run()
      try input.fileHandleForWriting.write(contentsOf: Data("x".utf8))
      try input.fileHandleForWriting.close()
      while process.isRunning, start.duration(to: .now) < .seconds(5) { usleep(20_000) }
      // It waits for the agent, which waits for this transaction.
      #expect(process.isRunning)
      return Change()
    }
    #expect(try bench.coffer(["secret", "list"]).status == 0)
  }

  @Test(arguments: [
    ("1 (cofferd) R 0 1", true), ("1 (a) b) D 0 1", true), ("1 (R R) S 0 1", false), ("1 (cofferd) T 0", false), ("1 (x)", false),
    ("", false),
  ])
  func threadsThatWaitForTheMachine(stat: String, expected: Bool) {
    #expect(AgentSocket.waitsForTheMachine(stat: Array(stat.utf8)[...]) == expected)
  }

  /// The thread that takes connections may have to wait for the processor while the others sleep.
  @Test func eachThreadOfAProcessCounts() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    let program = """
      import threading, time
      threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()
      time.sleep(1e6)
      """
    process.arguments = ["-c", program]
    try process.run()
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    try wait(for: "a thread is ready to run") { AgentSocket.waitsForTheMachine(process.processIdentifier) }
    kill(process.processIdentifier, SIGSTOP)
    try wait(for: "the process is stopped") { !AgentSocket.waitsForTheMachine(process.processIdentifier) }
  }
}
