import CofferFiles
import CofferStorage
import Glibc
import OpenSSHAgent
import SSHAgentProtocol
import Synchronization

/// The state that all connections share.
final class SharedState: Sendable {
  /// OpenSSH's agent, with the keys that clients have added.
  let upstream: PrivateAgent
  let lock = ClientLock()
  let keys: VaultKeys
  private let signers = Signers()
  private let isDebugging: Bool

  init(upstream: PrivateAgent, isDebugging: Bool) throws {
    self.upstream = upstream
    self.isDebugging = isDebugging
    keys = VaultKeys(PublicKeyDirectory(at: try Places(environment: { Environment[$0] }).sshPublicKeys))
  }

  /// - Returns: The answer with the signature.
  /// - Throws: what `VaultKeys.key` and `Signer` throw.
  func sign(_ request: SignRequest, _ binds: [SessionBind], _ messages: [[UInt8]]) throws -> [UInt8] {
    let purpose = Purpose.text(of: SignedData(request.data), binds, hostName: KnownHostsFiles.name)
    let key = try keys.key(request.key, purpose: purpose)
    // While it was asked for, the agent may have been locked.
    guard !lock.isLocked else { throw Signer.Failure.refused }
    defer { signers.prepare() }
    return try signers.take().sign(request, binds: messages, key: key)
  }

  /// With -d, on standard error. Never a key.
  func note(_ text: String) {
    guard isDebugging else { return }
    let bytes = Array("coffer-ssh-agent: \(text)\n".utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// Whether a client has locked the agent by a passphrase, which OpenSSH's agent keeps. The vault's keys are locked with the others.
final class ClientLock: Sendable {
  private let turn = ThreadLock()
  private let state = Atomic(false)

  var isLocked: Bool { state.load(ordering: .acquiring) }

  /// - Parameter ask: Asks OpenSSH's agent. One request at a time, so that this state follows its own.
  func change(to isLocked: Bool, _ ask: () throws -> [UInt8]) rethrows -> [UInt8] {
    try turn.withLock {
      let answer = try ask()
      if answer == [MessageNumber.success] { state.store(isLocked, ordering: .releasing) }
      return answer
    }
  }
}

/// The signer for the next signature, which is made ahead.
final class Signers: Sendable {
  private let spare = Mutex<Signer?>(nil)

  func take() throws -> Signer {
    let ready = spare.withLock { spare in
      defer { spare = nil }
      return spare
    }
    return try ready ?? Signer()
  }

  /// In the background. If it fails, the next signature makes its own, and reports the error.
  func prepare() {
    guard spare.withLock({ $0 == nil }) else { return }
    _ = DetachedThread.start("coffer-signer") { [self] in
      guard let signer = try? Signer() else { return }
      let surplus = spare.withLock { spare -> Signer? in
        guard spare == nil else { return signer }
        spare = signer
        return nil
      }
      withExtendedLifetime(surplus) {}
    }
  }
}
