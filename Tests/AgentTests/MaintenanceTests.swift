import CofferRequests
import CofferStorage
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferAgent

/// Clients of an agent whose vault is restored meanwhile.
@Suite struct MaintenanceTests {
  private func expectRefused(_ bench: AgentBench, _ place: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
    do {
      try body()
      Issue.record("it was done", sourceLocation: place)
    } catch {
      #expect(
        (error as? KeychainError)?.cause == .storage(.maintenance), "\(error)", sourceLocation: place)
    }
  }

  @Test(arguments: [true, false]) func clientsGetAnErrorAndWaitForNothing(closes: Bool) throws {
    let bench = try AgentBench()
    try bench.unlock()
    try bench.vault.withoutClients(closing: closes) {
      #expect(bench.vault.isLocked == closes)
      expectRefused(bench) { _ = try bench.vault.use { _ in true } }
      expectRefused(bench) { _ = try bench.vault.answer(.entitlements, as: { _, _ in .owner }) }
      expectRefused(bench) { try bench.unlock() }
      expectRefused(bench) { try bench.vault.withoutClients(closing: true) {} }
    }
    #expect(bench.vault.isLocked == closes)
    if closes { try bench.unlock() }
    #expect(try bench.vault.use { try $0.generation() } > 0)
  }

  @Test func itEndsWithAnError() throws {
    struct Failed: Error {}
    let bench = try AgentBench()
    try bench.unlock()
    #expect(throws: Failed.self) { try bench.vault.withoutClients(closing: false) { throw Failed() } }
    #expect(try bench.vault.use { _ in true })
  }
}
