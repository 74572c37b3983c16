import CLinux
import CofferFiles
import CofferRequests
import CofferWire
import Glibc
import SecretMemory
import UnitCredentials
import VaultCore

/// One credential of one service, from the connection of the service manager to its end.
final class CredentialConversation: Sendable {
  private let channel: FrameChannel
  private let shared: SharedState

  struct SharedState: Sendable {
    let vault: AgentVault
    let map: CredentialMap
    let log: @Sendable (Gate.Facts, Gate.Decision, Peer) throws -> Void
    /// Called when the agent ends.
    let ending: EventNotifier
  }

  /// One byte more than systemd takes for all credentials of a service.
  private static let refusalByteCount = 1 << 20 + 1
  private static let refusalMilliseconds = 60_000
  /// How often a locked vault is looked at again.
  private static let waitMilliseconds: Int32 = 200

  init(_ connection: consuming OwnedDescriptor, _ shared: SharedState) {
    channel = FrameChannel(connection)
    self.shared = shared
  }

  func run() {
    do {
      let peer = try Peer(of: channel.descriptor)
      guard let secret = try secret(for: peer) else { return refuse() }
      try channel.send(secret)
    } catch {
      refuse()
    }
  }

  /// Sends more than systemd takes: the service is not started. Takes no locked memory, of which there may be none.
  func refuse() {
    let zeros = [UInt8](repeating: 0, count: 1 << 14)
    let deadline = Deadline(milliseconds: Self.refusalMilliseconds)
    var left = Self.refusalByteCount
    while left > 0 {
      let sent = unsafe zeros.withUnsafeBytes {
        unsafe send(channel.descriptor, $0.baseAddress, min(left, $0.count), Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if sent > 0 {
        left -= sent
        continue
      }
      // The service manager closes as soon as it has read too much.
      guard errno == EAGAIN || errno == EINTR, !deadline.hasPassed else { return }
      var entry = pollfd(fd: channel.descriptor, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&entry, 1, deadline.left)
    }
  }

  /// Waits for the vault to be unlocked.
  /// - Returns: nil if it is refused, or if the peer or the agent ends.
  /// - Throws: what can't be logged.
  private func secret(for peer: Peer) throws -> Secret? {
    guard let credential = Self.credential(of: channel.descriptor) else {
      return try refuse(nil, peer, "no credential of a service in the address of the peer")
    }
    // The superuser of another user namespace is any user of this machine.
    guard peer.user == 0, try peer.isInOtherNamespace() == false else {
      return try refuse(nil, peer, "not the service manager")
    }
    let source: CredentialSource
    do {
      guard let found = try shared.map.source(of: credential) else {
        return try refuse(credential, peer, "names no item: coffer service add")
      }
      source = found
    } catch {
      return try refuse(credential, peer, "\(error)")
    }
    var tried: (isLocked: Bool, locks: UInt64)?
    repeat {
      let state = (shared.vault.status.isLocked, shared.vault.lockCount)
      guard tried == nil || tried! != state else { continue }
      tried = state
      do {
        return try self.secret(source, of: credential, peer)
      } catch {
        let error = KeychainError(error)
        // With new keys the vault is locked.
        if error.code == .locked || error.code == .masterKeyChanged { continue }
        return try refuse(credential, peer, "\(error)", in: source.group)
      }
    } while isWaitedFor()
    return nil
  }

  private static func credential(of descriptor: Int32) -> UnitCredential? {
    var address = [UInt8](repeating: 0, count: 108)
    let count = unsafe coffer_local_peer_name(descriptor, &address)
    return count > 0 ? UnitCredential(address: Array(address.prefix(Int(count)))) : nil
  }

  /// Whether the peer is still there, and the agent is not to end, after a while. The service manager ends its own direction at once.
  private func isWaitedFor() -> Bool {
    var entries = [
      pollfd(fd: channel.descriptor, events: 0, revents: 0),
      pollfd(fd: shared.ending.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&entries, 2, Self.waitMilliseconds)
    return entries[0].revents == 0 && entries[1].revents == 0
  }

  /// - Throws: `KeychainError`: `locked`; refusals.
  private func secret(_ source: CredentialSource, of credential: UnitCredential, _ peer: Peer) throws -> Secret {
    guard shared.vault.status.wasUnlocked else { throw KeychainError(.locked) }
    let caller = { (vault: borrowing Vault, _: UInt64) in
      try Caller.granted(to: GrantedProgram.unit(credential.unit).name, in: vault)
    }
    let entry = try entry(source) { try shared.vault.answer($0, as: caller) }
    var facts = facts(credential, source.group)
    facts.item = entry.reference.id
    let request = ItemRequest.secret(entry.reference, purpose: "start \(credential.unit)")
    let answer = try shared.vault.answer(
      request, as: caller,
      allowed: { _ in
        do {
          try shared.log(facts, .allow(.program), peer)
        } catch {
          throw KeychainError(.storage, cause: .auditLog, "\(error)")
        }
      })
    guard case .secret(let secret, entry: _) = consume answer else { throw KeychainError(.agent, "an answer of another kind") }
    return secret
  }

  /// The item that the source names. Without an account the program needs the right to list the group.
  /// - Throws: `notFound`, `conflict` if several fit; what `ask` throws.
  private func entry(_ source: CredentialSource, _ ask: (consuming ItemRequest) throws -> Answer) throws -> Entry {
    var attributes = Attributes()
    attributes["service"] = .text(source.service)
    attributes["account"] = source.account.map { .text($0) }
    guard case .entries(let found) = try ask(.items(.genericPassword, source.group, attributes)) else {
      throw KeychainError(.agent, "an answer of another kind")
    }
    guard found.entries.count < 2 else { throw KeychainError(.conflict, "several items of \(source.service) fit") }
    guard let entry = found.entries.first else { throw KeychainError(.notFound) }
    return entry
  }

  private func facts(_ credential: UnitCredential?, _ group: AccessGroup?) -> Gate.Facts {
    let program = credential.map { ProgramIdentity.unit($0.unit) } ?? .unknown("no service")
    var facts = Gate.Facts(operation: .secret, program: program, isSystem: true, group: group)
    facts.note = credential.map { "credential \($0.name)" } ?? ""
    return facts
  }

  private func refuse(
    _ credential: UnitCredential?, _ peer: Peer, _ why: String, in group: AccessGroup? = nil
  ) throws -> Secret? {
    let rule = credential.map { "credential \($0.name): \(why)" } ?? why
    try shared.log(facts(credential, group), .refuse(code: .missingEntitlement, rule: rule), peer)
    return nil
  }
}
