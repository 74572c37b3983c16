import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import Synchronization
import SystemBench
import Testing
import VaultCore

/// An agent that is killed again and again under sixteen clients: nothing that was acknowledged is lost, nobody hangs, and never
/// do two agents have the vault.
@Suite(.serialized, .timeLimit(.minutes(60))) struct RestartSoakTests {
  /// A client's items, which nobody else touches: for each account the values that it may have. Nil: that there is none.
  private struct Model {
    private(set) var possible: [String: Set<String?>] = [:]

    func values(_ account: String) -> Set<String?> { possible[account] ?? [nil] }

    /// The attempts: acknowledged, or perhaps done.
    mutating func take(_ account: String, _ value: String?, isAcknowledged: Bool) {
      possible[account] = isAcknowledged ? [value] : values(account).union([value])
    }
  }

  private struct Tally {
    var acknowledged = 0
    var read = 0
    /// By exit code.
    var refused: [Int32: Int] = [:]
    var wrong: [String] = []

    /// Whether the clients have met what this test is about.
    var isComplete: Bool { acknowledged > 0 && read > 0 && !refused.isEmpty }
  }

  /// The exit codes of a command that the agent could not serve: no agent runs, it ended, or it is locked.
  private static let refusals: Set<Int32> = [5, 12]
  private static let clientCount = 16
  private static let accountCount = 4

  private static var restartCount: Int { unsafe getenv("COFFER_TRUST") == nil ? 6 : 60 }

  private final class Session: Sendable {
    let tally = Mutex(Tally())
    private let state = Atomic(false)

    var isOver: Bool { state.load(ordering: .acquiring) }
    func end() { state.store(true, ordering: .releasing) }
  }

  /// Puts, gets and removes until the time is over.
  private static func use(_ bench: DaemonBench, _ number: Int, _ session: Session) throws -> Model {
    var model = Model()
    var round = 0
    while !session.isOver {
      round += 1
      let account = "\(number)-\(Int.random(in: 0..<accountCount))"
      let name = "soak/\(account)"
      switch Int.random(in: 0..<6) {
      case 0:
        let status = try bench.coffer(["secret", "rm", name, "--force"]).status
        // Where it was not there before, it is not there now.
        check(status, [3], account, session)
        if status == 3, !model.values(account).contains(nil) {
          session.tally.withLock { $0.wrong.append("\(account) is missing") }
        }
        model.take(account, nil, isAcknowledged: status == 0 || status == 3)
      case 1...3:
        let value = "\(number)-\(round)-" + String(repeating: "x", count: Int.random(in: 0..<2000))
        // Whether there is one, is not known for sure: either way it is one command.
        let known = model.values(account)
        let isUpdate = !known.contains(nil) || (known.count > 1 && Bool.random())
        let status = try bench.coffer(["secret", "set", name] + (isUpdate ? ["--update"] : []), input: value).status
        check(status, known.count > 1 ? [3, 4] : [], account, session)
        if status != 3 && status != 4 { model.take(account, value, isAcknowledged: status == 0) }
      default:
        let outcome = try bench.coffer(["secret", "get", name])
        check(outcome.status, [3], account, session)
        guard outcome.status == 0 || outcome.status == 3 else { continue }
        let found = outcome.status == 0 ? outcome.output : nil
        session.tally.withLock { tally in
          tally.read += 1
          if !model.values(account).contains(found) { tally.wrong.append("\(account): \(found?.prefix(20) ?? "nothing")") }
        }
        // Now it is known.
        model.take(account, found, isAcknowledged: true)
      }
    }
    return model
  }

  private static func check(_ status: Int32, _ allowed: Set<Int32>, _ account: String, _ session: Session) {
    session.tally.withLock { tally in
      if status == 0 {
        tally.acknowledged += 1
      } else if refusals.contains(status) {
        tally.refused[status, default: 0] += 1
      } else if !allowed.contains(status) {
        tally.wrong.append("\(account): ended with \(status)")
      }
    }
  }

  @Test func killedAgentsLoseNothing() throws {
    let bench = try DaemonBench()
    try bench.unlock()
    let session = Session()
    let models = Mutex<[Model]>([])
    let shared = Shared(bench)
    let ended = DispatchGroup()
    for number in 0..<Self.clientCount {
      ended.enter()
      Foundation.Thread.detachNewThread {
        defer { ended.leave() }
        do {
          let model = try Self.use(shared.bench, number, session)
          models.withLock { $0.append(model) }
        } catch {
          session.tally.withLock { $0.wrong.append("\(error)") }
        }
      }
    }
    var restarts = 0
    let deadline = ContinuousClock.now + .seconds(1200)
    while (restarts < Self.restartCount || !session.tally.withLock { $0.isComplete }) && .now < deadline {
      usleep(UInt32.random(in: 500_000...2_500_000))
      #expect(try bench.startAnother() == "running")
      bench.kill()
      // Its clients meet nobody for a while, and then one that is locked.
      usleep(UInt32.random(in: 0...200_000))
      try bench.start()
      usleep(UInt32.random(in: 0...200_000))
      try bench.unlock()
      restarts += 1
    }
    session.end()
    #expect(ended.wait(timeout: .now() + 600) == .success, "somebody hangs")
    let tally = session.tally.withLock { $0 }
    #expect(tally.wrong == [])
    #expect(models.withLock { $0.count } == Self.clientCount)
    bench.kill()
    // Without any agent, from the file.
    let vault = try Vault.openThrowAway(FileStore(at: bench.places.vault))
    #expect(try vault.verify().problems == [])
    var stored: [String: String] = [:]
    for entry in try vault.entries().entries {
      let bytes = try vault.secret(of: entry.reference).copyIntoUnprotectedBytes()
      stored[entry.item["account"] ?? ""] = String(decoding: bytes, as: UTF8.self)
    }
    for (account, values) in models.withLock({ $0 }).flatMap(\.possible) {
      #expect(values.contains(stored[account]), "\(account): \(stored[account]?.prefix(20) ?? "nothing")")
    }
    #expect(tally.isComplete && restarts >= Self.restartCount)
    #expect(try bench.coffer(["vault", "verify", "--key-file", "key"]).status == 0)
    print(
      "agent: \(restarts) kills, \(tally.acknowledged) acknowledged, \(tally.read) read, refused by exit code: \(tally.refused)")
  }

  /// The parts of a bench that several threads use start commands, and change nothing.
  private struct Shared: @unchecked Sendable {
    let bench: DaemonBench
    init(_ bench: DaemonBench) { self.bench = bench }
  }
}
