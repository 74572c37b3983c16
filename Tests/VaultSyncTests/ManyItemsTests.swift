import CofferTesting
import Foundation
import Glibc
import SecretMemory
import Testing
import VaultCore

@testable import Coffer
@testable import CofferSync
@testable import VaultSync

/// Items that are written by one commit, and as many as memory cannot be locked for.
@Suite struct ManyItemsTests {
  private static let names = (0..<10).map { "item \($0)" }

  private static func shared() throws -> [Machine] {
    let machines = try SynchroniseTests.machines(2)
    for name in names { try machines[0].set(name, "first") }
    try machines[0].synchronise()
    return machines
  }

  /// The next pass reads no secret of them.
  @Test func itemsOfOneCommitNeedNoComparison() throws {
    let two = try Self.shared()[1]
    #expect(try two.synchronise().written == 10)
    #expect(try two.session().state.rows.values.count { $0.version != nil } == 10)
    let before = two.crash.calls
    try two.synchronise()
    #expect(two.crash.calls - before < 2 * 10)
  }

  /// The last item of the commit tells the version of all of them.
  @Test(arguments: 0..<40) func aChangeWhileItemsAreAddedIsNotLost(calls: Int) throws {
    let machines = try Self.shared()
    let two = machines[1]
    var hasChanged = false
    two.crash.interruption = (
      calls,
      {
        guard let there = try? two.values(), there.count == 10 else { return }
        for name in Self.names { try? two.set(name, "second") }
        hasChanged = true
      }
    )
    try two.synchronise()
    two.crash.interruption = nil
    try SynchroniseTests.settle(machines)
    #expect(try machines[0].values() == two.values())
    #expect(try two.values().values.allSatisfy { $0 == (hasChanged ? "second " : "first ") })
  }

  @Test func aNewDeviceReadsTheLogOnce() throws {
    let one = try Self.shared()[0]
    let session = try one.session()
    let identity = try Machine.identity(7)
    try session.add(identity.record(.member))
    _ = try session.synchronise(with: one.engine)
    let before = one.crash.calls
    _ = try Replica(joining: identity, #require(Welcome(session.state.replica)), one.engine, ValueKey())
    // One call for the entries, and one that finds their end.
    #expect(one.crash.calls - before == 2)
  }

  /// A user may lock 8 MiB; a vault holds more secrets than that.
  @Test(.enabled(if: locksForReal)) func theSecretsOfAPassAreNotLockedAtOnce() async {
    await #expect(processExitsWith: .success) {
      let machines = try SynchroniseTests.machines(2)
      let count = 1_000
      let secret = String(repeating: "x", count: 300)
      for number in 0..<count { try machines[0].set("item \(number)", secret) }
      try machines[0].synchronise()
      let before = LockedMemory.usage.lockedBytes
      guard try machines[1].synchronise().written == count else { exit(1) }
      // Each would take a slot of 4 KiB.
      guard LockedMemory.usage.lockedBytes - before < count * 1024 else { exit(2) }
    }
  }

  /// The sanitizers put an mlock of their own in place, which does nothing and always succeeds.
  static let locksForReal = unsafe dlsym(nil, "__tsan_init") == nil && dlsym(nil, "__asan_init") == nil
}
