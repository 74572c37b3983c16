import CofferStorage
import CofferTesting
import Foundation
import Testing
import VaultCore
import Waiting

@testable import Coffer

/// The agent itself, with the shortest time that it takes.
@Suite(.timeLimit(.minutes(60))) struct IdleTests {
  @Test func itLocksWhereNobodyUsesIt() async throws {
    let bench = try DaemonBench(options: "--idle 1")
    let unlocked = ContinuousClock.now
    try bench.unlock()
    let keychain = try Keychain.connect(toAgentAt: bench.places.agentSocket)
    #expect(try !keychain.isLocked)
    // To ask how it is, is no use of it. Other tests have the thread meanwhile.
    try await waitAside(for: "the agent has locked") {
      try await Task.sleep(for: .milliseconds(500))
      return try keychain.isLocked
    }
    #expect(unlocked.duration(to: .now) >= .seconds(59))
  }
}
