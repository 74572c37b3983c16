import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferSync
@testable import VaultSync

/// Three devices whose persons change items at random, and which crash at any call of the vault or the engine.
@Suite struct ScheduleTests {
  /// The values that persons have written, and those that a person has replaced or deleted who saw them.
  private struct Model {
    var values: [String: Set<String>] = [:]
    var ended: [String: Set<String>] = [:]

    mutating func write(_ account: String, _ value: String, seeing seen: Set<String>) {
      values[account, default: []].insert(value)
      ended[account, default: []].formUnion(seen.subtracting([value]))
    }

    mutating func delete(_ account: String, seeing seen: Set<String>) { ended[account, default: []].formUnion(seen) }

    /// The values that each device has to have.
    func living(_ account: String) -> Set<String> { (values[account] ?? []).subtracting(ended[account] ?? []) }
  }

  private static let accounts = ["a", "b", "c", "d"]

  @Test(arguments: 0..<24) func devicesAgreeAndLoseNothing(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let machines = try SynchroniseTests.machines(3)
    var model = Model()
    var crashes = 0
    let hasCrashes = seed % 3 != 0
    for step in 0..<60 {
      let machine = machines.randomElement(using: &random)!
      let account = Self.accounts.randomElement(using: &random)!
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        let seen = try machine.versions(account)
        try machine.set(account, "value \(step)")
        model.write(account, "value \(step)", seeing: seen)
      case 4:
        let seen = try machine.versions(account)
        try machine.remove(account)
        model.delete(account, seeing: seen)
      default:
        machine.crash.callsUntilCrash =
          hasCrashes && Bool.random(using: &random) ? Int.random(in: 0..<60, using: &random) : nil
        do {
          try machine.synchronise()
        } catch is CrashPoint.Crash {
          crashes += 1
        }
        machine.crash.callsUntilCrash = nil
      }
    }
    try SynchroniseTests.settle(machines)
    #expect((crashes > 0) == hasCrashes)
    let values = try machines[0].values()
    for machine in machines {
      #expect(try machine.values() == values)
      for account in Self.accounts {
        let living = model.living(account)
        #expect(try machine.liveSecrets(account).isSuperset(of: living), "\(account)")
        // A device that crashed while it wrote may have shown a value of which a deletion then does not know.
        #expect(crashes > 0 || (values[account] != nil) == !living.isEmpty, "\(account): \(living)")
      }
    }
  }
}

extension Machine {
  /// The secrets of an item that no author who saw them has replaced.
  fileprivate func liveSecrets(_ account: String) throws -> Set<String> {
    let session = try session()
    let content = try ItemContent(Item(service: "service", account: account), in: Self.group, accessibility: .whenUnlocked)
    let writes = session.shown(EntityKey(.item, content.tag))?[.secret] ?? []
    return Set(
      try writes.map { write in
        let secret = try session.state.replica.content(of: write.value) { _ in nil }
        return String(decoding: secret.secret.copyIntoUnprotectedBytes(), as: UTF8.self)
      })
  }
}
