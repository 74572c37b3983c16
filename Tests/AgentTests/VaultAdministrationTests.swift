import AppContainers
import CofferRequests
import CofferStorage
import CofferTesting
import Foundation
import Passphrases
import SecretMemory
import Testing
import VaultCore

@testable import CofferAgent
@testable import CofferWire

/// The system agent's operations before a credential was proven.
@Suite struct VaultAdministrationTests {
  /// Any program of the user may make the vault: it is not to keep the agent at work for years, or to take all of the memory.
  @Test func aVaultWhoseKeyDerivationNeverEndsIsNotMade() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-administration-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: directory) }
    let places = Places(in: directory.path)
    let vault = AgentVault(
      at: places.vault, inspect: { try Vault.inspect(FileStore(at: places.vault)) },
      open: { _ in throw VaultError(.wrongCredential) })
    let administration = VaultAdministration(vault, places, try DataDirectory(at: directory.path))
    var owned: UInt64?
    func kdf(_ iterations: UInt32, _ memory: UInt32) throws -> KDFParameters {
      try KDFParameters(iterations: iterations, memoryKiB: memory)
    }
    func expectRefused(_ call: consuming VaultRequest, _ place: SourceLocation = #_sourceLocation) {
      var code: VaultError.Code?
      do { _ = try administration.answer(call, &owned) } catch { code = (error as? VaultError)?.code }
      #expect(code == .kdfAboveCeiling, sourceLocation: place)
    }
    func passphrase() throws -> Credential {
      try .passphrase(Secret(testing: "correct horse")).derived(salt: nil, .floor, ceiling: .standard)
    }
    for ruinous in [try kdf(.max, 64 << 10), try kdf(3, .max)] {
      expectRefused(.create(try passphrase(), ruinous, recovery: nil))
      expectRefused(.addSlot(try passphrase(), ruinous, by: try passphrase()))
      let id = try #require(Identifier([UInt8](repeating: 1, count: 16)))
      expectRefused(.replaceSlot(id, try passphrase(), ruinous, by: try passphrase()))
    }
    #expect(!FileManager.default.fileExists(atPath: places.vault))
    // The control: a vault is made.
    _ = try administration.answer(.create(passphrase(), .floor, recovery: nil), &owned)
    #expect(owned == 0 && FileManager.default.fileExists(atPath: places.vault))
  }
}
