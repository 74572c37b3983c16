import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import SystemBench
import Testing
import VaultCore

@testable import Coffer

/// A copy of the file of an open vault has what was answered a moment ago.
@Suite(.timeLimit(.minutes(15))) struct FoldTests {
  /// Waits until nothing lies beside the vault's file.
  private func waitForOneFile(_ path: String, _ what: Comment) async throws {
    let log = try FileStore(at: path)
    let start = ContinuousClock.now
    while log.logByteCount > 0 {
      guard start.duration(to: .now) < .seconds(300) else {
        Issue.record("\(log.logByteCount) bytes are left in the log: \(what)")
        return
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  private func countOfCopy(_ path: String) throws -> Int {
    let copy = "\(path).copy"
    try? FileManager.default.removeItem(atPath: copy)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    unsafe chmod(copy, 0o600)
    return try Vault.open(FileStore(at: copy), with: .throwAway()).entries(in: .standard).entries.count
  }

  /// It had none of five, and `coffer vault verify` called it sound.
  @Test func theAgentsVault() async throws {
    let bench = try DaemonBench()
    try bench.unlock()
    for round in 1...2 {
      for number in 1...5 {
        #expect(try bench.coffer(["secret", "set", "mail/\(round)-\(number)"], input: "x").status == 0)
      }
      try await waitForOneFile(bench.places.vault, "the agent's")
      #expect(try countOfCopy(bench.places.vault) == 5 * round)
    }
    // The agent goes on.
    #expect(try bench.coffer(["secret", "get", "mail/1-1"]).output == "x")
  }

  @Test func aVaultThatIsOpenInTheProcess() async throws {
    let bench = try DaemonBench()
    let vault = try Vault.open(FileStore(at: bench.places.vault), with: .throwAway())
    let keychain = try Keychain(vault, as: .owner)
    for number in 1...5 { try keychain.add(Item(service: "mail", account: "\(number)"), secret: Secret(testing: "x")) }
    try await waitForOneFile(bench.places.vault, "a keychain's")
    #expect(try countOfCopy(bench.places.vault) == 5)
    #expect(try keychain.items().count == 5)
  }

  /// A reader keeps the log: it is tried again each second, and at the lock.
  @Test func aReaderOnlyDelaysIt() async throws {
    let bench = try DaemonBench()
    try bench.unlock()
    // The journal becomes a log, which a reader does not keep from being written.
    #expect(try bench.coffer(["secret", "set", "mail/first"], input: "x").status == 0)
    let reader = try FileStore(at: bench.places.vault)
    try reader.read { _ throws -> Void in
      #expect(try bench.coffer(["secret", "set", "mail/ada"], input: "x").status == 0)
      #expect(try bench.coffer(["vault", "lock"]).status == 0)
      #expect(reader.logByteCount > 0)
    }
    try await waitForOneFile(bench.places.vault, "a locked agent's")
    #expect(try countOfCopy(bench.places.vault) == 2)
  }

  /// A backup that is put in the place of an open vault is what is opened next, and nothing of the old one's log gets into it.
  @Test func aBackupThatIsPutInItsPlaceIsOpened() throws {
    let bench = try DaemonBench()
    try bench.unlock()
    #expect(try bench.coffer(["secret", "set", "mail/ada"], input: "x").status == 0)
    #expect(try bench.coffer(["vault", "lock"]).status == 0)
    let path = bench.places.vault
    try FileManager.default.copyItem(atPath: path, toPath: "\(path).backup")
    unsafe chmod("\(path).backup", 0o600)
    try bench.unlock()
    #expect(try bench.coffer(["secret", "set", "mail/bob"], input: "x").status == 0)
    #expect(unsafe rename("\(path).backup", path) == 0)
    #expect(try bench.coffer(["secret", "get", "mail/ada", "--no-input"]).status != 0)
    #expect(try bench.coffer(["vault", "accept-rollback", "--force", "--key-file", "key"]).status == 0)
    try bench.unlock()
    #expect(try bench.coffer(["secret", "get", "mail/ada"]).output == "x")
    #expect(try bench.coffer(["secret", "get", "mail/bob"]).status == 3)
  }
}
