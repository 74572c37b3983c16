import AccessRights
import Coffer
import CofferApps
import CofferTesting
import Foundation
import SecretMemory
import SystemBench
import VaultCore

@testable import Coffer

/// The same apps under an agent of the system: its real program, under a user of its own. Each app is a program that really runs, as the user,
/// and passes on what the test asks.
final class SystemTeams {
  private let bench: SystemBench
  private var relays: [Relay] = []
  /// The keychain that was opened with the only key file.
  let owner: Keychain

  init() throws {
    bench = try SystemBench()
    let relay = try Relay(bench.programs.appending(path: "AgentProbe"), to: bench)
    relays = [relay]
    owner = Keychain(AgentTransport(at: relay.path))
    try owner.createVault(with: .throwAway(), kdf: .lowMemory, recovery: Secret(count: 0))
  }

  /// A program with content of its own.
  /// - Returns: Its digest.
  func makeProgram(_ name: String) throws -> [UInt8] {
    var content = try Data(contentsOf: bench.programs.appending(path: "AgentProbe"))
    content.append(Data(name.utf8))
    let path = bench.programs.appending(path: name)
    try content.write(to: path)
    unsafe chmod(path.path, 0o755)
    var digest = try ContentDigest()
    digest.update([UInt8](content))
    return digest.finish()
  }

  func install(_ app: SignedManifest) throws {
    var records = owner.appRecords
    try records.install(app, SignedManifestFile.write(app), at: .test)
  }

  func remove(_ app: SignedManifest) throws {
    var records = owner.appRecords
    try records.markRemoved(app.manifest.applicationIdentifier, at: .test)
  }

  /// Unlocked, as one that is opened in the process.
  func keychain(_ program: String) throws -> Keychain {
    if try owner.isLocked { try owner.unlock(with: .throwAway()) }
    let relay = try Relay(bench.programs.appending(path: program), to: bench)
    relays.append(relay)
    return Keychain(AgentTransport(at: relay.path))
  }
}
