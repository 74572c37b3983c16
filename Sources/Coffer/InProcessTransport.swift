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
  let board = NoticeBoard()

  /// - Throws: `appNotInstalled`: an app that the vault does not know, or that was removed, gets nothing at all.
  init(_ vault: consuming Vault, as identity: KeychainIdentity) throws {
    self.identity = identity
    try put(vault)
  }

  var isLocked: Bool { mutex.withLock { _ in vault?.isLocked ?? true } }

  func lock() {
    mutex.withLock { _ in
      if let isLocked = vault?.isLocked, !isLocked { board.tell(.locked) }
      vault?.lock()
      tell([])
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
    mutex.withLock { _ in
      if vault?.isLocked ?? false { board.tell(.unlocked) }
      swap(&vault, &new)
      if new == nil { board.begin(atGeneration: vault?.lastGeneration ?? 0) }
      tell([])
    }
  }

  /// - Parameter notices: What has been done here. What others have done since the last look is told as well.
  private func tell(_ notices: [Notice]) { board.tell(notices, generation: vault?.lastGeneration ?? 0) }

  /// Who may do what is asked anew for each call: what was granted may have been taken back.
  func answer(_ call: consuming Call) throws -> Answer {
    var call: Call? = consume call
    return try mutex.withLock { _ in
      guard vault != nil, let call = call.take() else { throw KeychainError(.locked) }
      let intention = call.intention
      var notices: [Notice] = []
      defer { tell(notices) }
      do {
        let caller = try identity.caller(in: vault!)
        let answer = try ItemService(caller, at: .now).answer(call, in: &vault!)
        notices = intention.notices(answer)
        return answer
      } catch {
        throw KeychainError(error)
      }
    }
  }

  func watch() -> any ChangeSource { InProcessWatch(self) }

  /// What of it this keychain may hear now.
  func visible(_ notice: Notice, _ filter: inout NoticeFilter) throws -> [Notice] {
    try mutex.withLock { _ in
      defer { tell([]) }
      return try filter.visible([notice]) { try identity.caller(in: vault!) }
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
