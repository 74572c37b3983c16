import CofferStorage
import CofferTesting
import CofferWire
import Foundation
import Passphrases
import SecretMemory
import SystemBench
import Testing
import VaultCore
import Waiting

@testable import Coffer

/// A guess costs the process that makes it: the agent compares, and derives nothing.
@Suite(.timeLimit(.minutes(60))) struct GuessTests {
  /// A process of the user that guesses all the time, on nearly as many connections as it may have.
  private final class Guesser {
    private let process: Process
    private let (input, output) = (Pipe(), Pipe())

    init(_ bench: DaemonBench) throws {
      process = bench.command(AgentBench.program("AgentProbe").path, ["guess", bench.places.agentSocket, "30"])
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
      try #require(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "guessing\n")
    }

    deinit {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    /// Ends it.
    /// - Returns: The number of its guesses that were refused.
    func end() throws -> Int {
      try input.fileHandleForWriting.close()
      let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      return try #require(Int(text.filter(\.isNumber)))
    }
  }

  /// The agent derived keys one after another, and an owner behind 60 guesses was refused after a minute.
  @Test func anOwnerWaitsForNoGuess() throws {
    let bench = try DaemonBench()
    // More than a second for each derivation: a queue of 60 would take more than the minute that the agent waited.
    try Self.addPassphrase(KDFParameters(iterations: 64, memoryKiB: 128 << 10), to: bench.places.vault)
    let guessers = try (0..<2).map { _ in try Guesser(bench) }
    #expect(try bench.coffer(["vault", "unlock", "--passphrase-fd", "0"], input: "correct horse\n").status == 0)
    #expect(try bench.coffer(["agent", "status"]).output == "unlocked\n")
    for guesser in guessers { #expect(try guesser.end() > 0) }
    #expect(try Self.peak(bench.processNumber) < 128 << 10)
  }

  /// The same for an agent under a user of its own, with guesses of the owner's programs and of another user's.
  @Test(.enabled(if: SystemBench.isPossible, Comment(rawValue: SystemBench.reason))) func anOwnerWaitsForNoGuessAtTheSystemAgent()
    throws
  {
    let bench = try SystemBench()
    let made = try bench.coffer("vault", "init", "--recovery-key", "--passphrase-fd", "0", input: "correct horse\n")
    try #require(made.status == 0, "\(made.errors)")
    #expect(try bench.coffer("vault", "lock").status == 0)
    // As if the mode of the socket were wrong.
    unsafe chmod(bench.socket, 0o666)
    let guess = "while :; do '\(bench.programs.path)/AgentProbe' guess \(bench.socket) 30; done >/dev/null"
    let input = Pipe()
    let guessers = try [bench.user, bench.user, bench.stranger].map {
      try bench.command("/bin/sh", ["-c", guess], as: $0, descriptors: [input.fileHandleForReading.fileDescriptor, 2, 2])
    }
    defer {
      for guesser in guessers { guesser.end() }
      // Their child processes end when the input is closed.
      try? input.fileHandleForWriting.close()
    }
    // Some have been refused, and it goes on.
    let log = bench.state.path + "/state/audit/refusals/00000000000000000001.log"
    try wait(for: "guesses are in the log") {
      ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").contains("wrongCredential")
    }
    let unlocked = try bench.coffer("vault", "unlock", "--passphrase-fd", "0", input: "correct horse\n")
    #expect(unlocked.status == 0, "\(unlocked.errors)")
    #expect(try bench.coffer("agent", "status").lines == ["unlocked"])
    #expect(try Self.peak(bench.agentProcess) < 128 << 10)
  }

  /// In KiB. Argon2id takes 128 MiB or more for each guess here.
  private static func peak(_ process: Int32) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber)))
  }

  /// Each slot of a kind is tried, and one that costs too much does not hide the others.
  @Test func anExpensiveSlotIsNotDerived() throws {
    let bench = try DaemonBench()
    try Self.addPassphrase(KDFParameters(iterations: 4, memoryKiB: 64 << 10), to: bench.places.vault)
    let keychain = try Keychain.connect(toAgentAt: bench.places.agentSocket)
    let ceiling = KDFCeiling(iterations: 3, memoryKiB: 64 << 10)
    do {
      try keychain.unlock(with: .passphrase(Secret(testing: "correct horse")), ceiling: ceiling)
      Issue.record("was unlocked")
    } catch let error as KeychainError {
      #expect(error.code == .notAllowed && error.cause == .vault(.kdfAboveCeiling))
    }
    try Self.addPassphrase(.floor, to: bench.places.vault)
    try keychain.unlock(with: .passphrase(Secret(testing: "correct horse")), ceiling: ceiling)
    #expect(try !keychain.isLocked)
  }

  /// The passphrase is right, and was called wrong.
  @Test func aSlotIsReplacedDuringTheDerivation() throws {
    let bench = try DaemonBench()
    try Self.addPassphrase(.floor, to: bench.places.vault)
    let keychain = try Keychain.connect(toAgentAt: bench.places.agentSocket)
    var rounds = 0
    try keychain.withDerived(.passphrase(Secret(testing: "correct horse")), .ofThisMachine) { derived in
      rounds += 1
      if rounds == 1 {
        var vault = try Vault.open(FileStore(at: bench.places.vault), with: .throwAway())
        let slot = try #require(try vault.status().slots.first(where: \.type.hasPassphrase))
        try vault.replaceSlot(slot.id, with: .passphrase(Secret(testing: "correct horse")), kdf: .floor)
      }
      _ = try keychain.agent.answer(.session(.unlock(derived, display: Attributes())))
    }
    #expect(try rounds == 2 && !keychain.isLocked)
  }

  @Test func aKindThatTheVaultDoesNotHave() throws {
    let bench = try DaemonBench()
    let keychain = try Keychain.connect(toAgentAt: bench.places.agentSocket)
    do {
      try keychain.unlock(with: .passphrase(Secret(testing: "any")))
      Issue.record("was unlocked")
    } catch let error as KeychainError {
      #expect(error.code == .wrongCredential && error.cause == .vault(.noSuchSlot))
    }
  }

  private static func addPassphrase(_ kdf: KDFParameters, to path: String) throws {
    var vault = try Vault.open(FileStore(at: path), with: .throwAway())
    try vault.addSlot(.passphrase(Secret(testing: "correct horse")), kdf: kdf)
  }
}
