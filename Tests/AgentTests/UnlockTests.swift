import Agent
import Coffer
import CofferTesting
import Passphrases
import Testing
import VaultCore

@Suite(.timeLimit(.minutes(60))) struct UnlockTests {
  /// Who tries passphrases is in the log.
  @Test func aWrongPassphraseIsNoted() throws {
    let bench = try AgentBench()
    let keychain = try Keychain.connect(toAgentAt: bench.socket)
    for _ in 0..<2 {
      #expect(throws: KeychainError(.wrongCredential)) { try keychain.unlock(with: .passphrase(Secret(testing: "any"))) }
    }
    let codes = bench.decisions.map { if case .refuse(let code, rule: _) = $0.1 { code } else { "allowed" } }
    #expect(codes == ["wrongCredential", "wrongCredential"])
  }
}
