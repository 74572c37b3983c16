import CofferTesting
import Foundation
import Storage
import Testing
import VaultCore

@testable import Coffer

/// The agent itself, with the shortest time that it takes.
@Suite(.timeLimit(.minutes(15))) struct IdleTests {
  @Test func itLocksWhereNobodyUsesIt() throws {
    let bench = try DaemonBench(options: "--idle 1")
    let unlocked = ContinuousClock.now
    try bench.unlock()
    let keychain = try Keychain.connect(toAgentAt: bench.places.agentSocket)
    #expect(try !keychain.isLocked)
    // To ask how it is, is no use of it.
    while try !keychain.isLocked, unlocked.duration(to: .now) < .seconds(300) { usleep(500_000) }
    #expect(try keychain.isLocked)
    #expect(unlocked.duration(to: .now) >= .seconds(59))
  }
}
