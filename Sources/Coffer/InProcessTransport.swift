internal import Glibc
internal import ItemService
internal import Synchronization
internal import VaultCore
internal import Wire

/// A vault that is open in this process. All uses of it are within the lock, which is what makes it sendable.
final class InProcessTransport: KeychainTransport, @unchecked Sendable {
  private let identity: KeychainIdentity
  private let mutex = Mutex(())
  private var vault: Vault?

  /// - Throws: `appNotInstalled`: an app that the vault does not know, or that was removed, gets nothing at all.
  init(_ vault: consuming Vault, as identity: KeychainIdentity) throws {
    self.identity = identity
    try put(vault)
  }

  var isLocked: Bool { mutex.withLock { _ in vault?.isLocked ?? true } }

  func lock() {
    mutex.withLock { _ in
      guard vault != nil else { return }
      vault!.lock()
    }
  }

  /// - Throws: `appNotInstalled`; integrity errors.
  func put(_ new: consuming Vault) throws {
    do {
      _ = try identity.caller(in: new)
    } catch {
      throw KeychainError(error)
    }
    var new: Vault? = consume new
    mutex.withLock { _ in swap(&vault, &new) }
  }

  /// Who may do what is asked anew for each call: what was granted may have been taken back.
  func answer(_ call: consuming Call) throws -> Answer {
    var call: Call? = consume call
    return try mutex.withLock { _ in
      guard vault != nil, let call = call.take() else { throw KeychainError(.locked) }
      do {
        let caller = try identity.caller(in: vault!)
        return try ItemService(caller, at: .now).answer(call, in: &vault!)
      } catch {
        throw KeychainError(error)
      }
    }
  }
}

extension KeychainIdentity {
  fileprivate func caller(in vault: borrowing Vault) throws -> Caller {
    switch self {
    case .app(let signed): try Caller(signed, in: vault)
    case .groups(let groups): Caller(groups)
    case .owner: .owner
    }
  }
}

extension Timestamp {
  static var now: Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }
}
