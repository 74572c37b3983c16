import Coffer
import CofferAgent
import CofferRequests
import CofferTesting
import CofferWire
import Passphrases
import SecretMemory
import Testing

@Suite(.timeLimit(.minutes(60))) struct UnlockTests {
  /// Guesses of passphrases are in the log.
  @Test func aWrongPassphraseIsNoted() throws {
    let bench = try AgentBench()
    var vault = try bench.openVault()
    try vault.addSlot(.passphrase(Secret(testing: "correct horse")), kdf: .floor)
    let keychain = try Keychain.connect(toAgentAt: bench.socket)
    for _ in 0..<2 {
      #expect(throws: KeychainError(.wrongCredential)) { try keychain.unlock(with: .passphrase(Secret(testing: "any"))) }
    }
    let codes = bench.decisions.filter { $0.0.operation == .unlock }.map {
      if case .refuse(let code, rule: _) = $0.1 { code.name } else { "allowed" }
    }
    #expect(codes == ["wrongCredential", "wrongCredential"])
  }
}
