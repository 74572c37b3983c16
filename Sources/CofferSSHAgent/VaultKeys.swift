import Coffer
import CofferFiles
import CofferRequests
import Glibc
import OpenSSHAgent
import SSHAgentProtocol
import SecretMemory
import VaultCore

/// The keys of the vault: the public ones from files, so that they are listed while the vault is locked, and the private ones from
/// cofferd, one at a time, for one signature.
struct VaultKeys: Sendable {
  private let directory: PublicKeyDirectory
  private let visibility = Visibility()
  private let unlocking = Unlocking()

  init(_ directory: PublicKeyDirectory) { self.directory = directory }

  var identities: [Identity] { directory.keys.map(\.line.identity) }

  func name(of key: [UInt8]) -> SSHKeyName? { directory.keys.first { $0.line.identity.key == key }?.name }

  /// The private key, as `KeyForAdding` has it. A locked vault is unlocked if a person can be asked.
  /// - Throws: `KeychainError`.
  func key(_ publicKey: [UInt8], purpose: String) throws -> Secret {
    guard let name = name(of: publicKey) else { throw KeychainError(.notFound) }
    do {
      return try secret(of: name, purpose: purpose)
    } catch let error as KeychainError where error.code == .locked || error.cause == .absentAgent {
      guard unlocking.isDone() else { throw error }
      return try secret(of: name, purpose: purpose)
    }
  }

  /// Over a connection of its own: the question to the owner about one key delays no other.
  private func secret(of name: SSHKeyName, purpose: String) throws -> Secret {
    try visibility.shown {
      let keychain = try Keychain.connect()
      let query = KeychainQuery(.key, group: .sshKeys, attributes: Item(sshKey: name).primaryKey)
      return try keychain.secret(of: keychain.item(query).reference, purpose: purpose)
    }
  }
}

/// Has the owner asked for the passphrase, by `coffer vault unlock` at the display of this process.
final class Unlocking: Sendable {
  private let last = Guarded((end: UInt64(0), isDone: false))

  /// Requests that meet a locked vault at one time share one question, and its answer.
  func isDone() -> Bool {
    let begin = Deadline.now()
    return last.withLock { last in
      if last.end > begin { return last.isDone }
      defer { last.end = Deadline.now() }
      last.isDone = false
      guard let coffer = ProgramPlaces.program("coffer").first(where: { unsafe access($0, X_OK) == 0 }) else { return false }
      var program = ChildProgram(coffer, ["vault", "unlock"])
      // Without a terminal it asks at a display, or fails at once.
      program.streams = [.none, .none, .none]
      program.hasSession = true
      program.blocked = ChildProgram.noSignals
      let started = program.start()
      guard started.errno == 0, ChildProgram.wait(for: started.process) == 0 else { return false }
      last.isDone = true
      return true
    }
  }
}
