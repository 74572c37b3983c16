import AccessRights
import Coffer
import CofferAudit
import CofferStorage
import Foundation
import SystemBench
import Testing
import VaultCore

/// The log of a real agent, and what a program without rights can do to it.
@Suite(.timeLimit(.minutes(60))) struct AuditedAgentTests {
  private let bench: DaemonBench

  init() throws { bench = try DaemonBench() }

  private func entries() throws -> [(ring: AuditRing, entry: AuditEntry)] {
    var entries: [(AuditRing, AuditEntry)] = []
    try AuditHistory(of: bench.places.state)?.forEachEntry { entries.append(($0, $1.entry)) }
    return entries
  }

  /// Makes requests that are refused: to the agent this test is a program that belongs to no app.
  private func refusals(_ count: Int) throws {
    let keychain = try Keychain.connect(toAgentAt: bench.places.agentSocket)
    let tail = String(repeating: "x", count: 200)
    for index in 0..<count {
      let query = KeychainQuery(group: try AccessGroup("invented.\(index).\(tail)"))
      #expect(throws: KeychainError(.missingEntitlement)) { try keychain.items(query) }
    }
  }

  @Test func refusalsEraseNothing() throws {
    try bench.unlock()
    #expect(try bench.coffer(["secret", "set", "mail/ada"], input: "hunter2").status == 0)
    #expect(try bench.coffer(["secret", "get", "mail/ada"]).output == "hunter2")
    let before = try entries().map(\.entry)
    #expect(before.contains { $0.operation == "agent.unlock" && $0.decision == .allowed })
    #expect(before.contains { $0.operation == "agent.secret" && $0.decision == .allowed && !$0.item.isEmpty })
    #expect(before.contains { $0.operation == "agent.add" && $0.decision == .allowed && !$0.item.isEmpty })
    #expect(before.allSatisfy { $0.decision != .refused })
    try refusals(15_000)
    #expect(try bench.coffer(["agent", "stop"]).status == 0)
    #expect(bench.waitForEnd() == 0)
    let after = try entries()
    // As they were; what was counted meanwhile is behind them.
    #expect(
      after.filter { $0.ring != .refusals }.map(\.entry).starts(
        with: before.filter { !["agent.inspect", "agent.end"].contains($0.operation) }))
    let refused = after.filter { $0.entry.decision == .refused }
    #expect(refused.count < 100 && refused.allSatisfy { $0.ring == .refusals }, "\(refused.count)")
    let times = after.map(\.entry.milliseconds)
    #expect(times == times.sorted())
    let doctor = try bench.coffer(["doctor"])
    #expect(doctor.status == 0 && doctor.output.hasPrefix("audit log: \(after.count) entries since "), "\(doctor)")
    let size = try FileManager.default.subpathsOfDirectory(atPath: bench.places.state + "/audit").reduce(0) { sum, name in
      sum + ((try FileManager.default.attributesOfItem(atPath: "\(bench.places.state)/audit/\(name)")[.size] as? Int) ?? 0)
    }
    #expect(size < 256 << 10, "\(size) bytes")
  }

  /// Killed without a warning: the next agent writes what this one has counted.
  @Test func aKillLosesNoCount() throws {
    try bench.unlock()
    try refusals(100)
    bench.kill()
    try bench.start()
    var sum = 0
    for (_, entry) in try entries() where entry.decision == .refused && entry.operation == "agent.items" {
      let words = entry.reason.split(separator: " ")
      sum += entry.reason.contains(" more since entry ") ? Int(words[words.count - 5]) ?? 0 : 1
    }
    #expect(sum == 100)
    #expect(try bench.coffer(["doctor"]).status == 0)
  }

  @Test func aLogThatWasRemovedIsNotWhole() throws {
    try bench.unlock()
    bench.kill()
    #expect(try bench.coffer(["doctor"]).status == 0)
    let audit = bench.places.state + "/audit"
    for name in try FileManager.default.subpathsOfDirectory(atPath: audit) where !name.contains("counts") && name.contains("/") {
      try FileManager.default.removeItem(atPath: "\(audit)/\(name)")
    }
    #expect(try bench.coffer(["doctor"]).status == 9)
    try FileManager.default.removeItem(atPath: audit)
    #expect(try bench.coffer(["doctor"]).status == 9)
  }
}
