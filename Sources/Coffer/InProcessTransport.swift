internal import CofferAudit
package import CofferRequests
internal import CofferStorage
internal import Glibc
internal import SecretMemory
internal import Synchronization
internal import VaultCore

/// A vault that is open in this process. All uses of it are within the lock, which is what makes it sendable.
final class InProcessTransport: KeychainTransport, @unchecked Sendable {
  /// In whose name, asked anew for each call: what was granted may have been taken back.
  private let caller: @Sendable (borrowing Vault) throws -> Caller
  private let confirm: ConfirmationQuestion
  private let log: DirectAccessLog?
  private let mutex = Mutex(())
  private var vault: Vault?
  private let foldTimer = FoldTimer()
  let board = NoticeBoard()

  /// - Throws: `appNotInstalled`: an app that the vault does not know, or that was removed, gets nothing at all.
  convenience init(_ vault: consuming Vault, as identity: KeychainIdentity, log: DirectAccessLog? = nil) throws {
    try self.init(vault, log: log) { try identity.caller(in: $0) }
  }

  init(
    _ vault: consuming Vault, log: DirectAccessLog? = nil,
    confirm: @escaping ConfirmationQuestion = { throw KeychainError(.confirmationNeeded, $0.group.name) },
    caller: @escaping @Sendable (borrowing Vault) throws -> Caller
  ) throws {
    self.caller = caller
    self.confirm = confirm
    self.log = log
    try put(vault)
  }

  /// Saves the anchor, and tells of a failure.
  func close() throws {
    var old: Vault?
    mutex.withLock { _ in swap(&vault, &old) }
    guard let old = old.take() else { return }
    try old.close()
  }

  var isLocked: Bool { mutex.withLock { _ in vault?.isLocked ?? true } }

  func lock() {
    mutex.withLock { _ in
      if let isLocked = vault?.isLocked, !isLocked { board.tell(.locked) }
      vault?.lock()
      tell([])
      armFold()
    }
  }

  private func armFold() { foldTimer.arm { [weak self] in self?.mutex.withLock { _ in self?.vault?.fold() } ?? true } }

  /// - Throws: `appNotInstalled`; integrity errors.
  func put(_ new: consuming Vault) throws {
    do {
      _ = try caller(new)
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

  /// - Parameter notices: The changes made here. Changes by others since the last call are delivered as well.
  private func tell(_ notices: [Notice]) { board.tell(notices, generation: vault?.lastGeneration ?? 0) }

  func answer(_ request: consuming ItemRequest) throws -> Answer {
    let (kind, subject, intention) = (request.kind, request.subject, request.intention)
    let isReading = kind.traits.effect == .reads
    let note = { [log] (_ decision: AuditEntry.Decision, _ new: Reference?, _ reason: String) -> Void in
      log?.append(kind, decision, new?.group ?? subject.group, new?.id ?? subject.item, because: reason, isMerged: isReading)
    }
    var request: ItemRequest? = consume request
    return try mutex.withLock { _ in
      guard vault != nil, let request = request.take() else { throw KeychainError(.locked) }
      // The purpose in the question is the caller's own text.
      var refusal: (any Error)?
      var notices: [Notice] = []
      let before = vault?.lastGeneration
      defer {
        tell(notices)
        if vault?.lastGeneration != before { armFold() }
      }
      do {
        let service = try ItemService(caller(vault!), at: .now)
        for needed in try service.confirmations(for: request, in: vault!) {
          do {
            try confirm(needed)
          } catch {
            refusal = error
            throw error
          }
        }
        let answer = try service.carryOut(request, in: &vault!) { note(.allowed, $0, "credential") }
        if isReading { note(.allowed, nil, "credential") }
        notices = intention.notices(answer.newReference)
        return answer
      } catch {
        let failure = refusal ?? KeychainError(error)
        if let failure = failure as? KeychainError, failure.code.isRefusal { note(.refused, nil, "\(failure)") }
        throw failure
      }
    }
  }

  func watch() -> any ChangeSource { InProcessWatch(self) }

  /// The notices that this keychain may receive now.
  func visible(_ notice: Notice, _ filter: inout NoticeFilter) throws -> [Notice] {
    try mutex.withLock { _ in
      defer { tell([]) }
      return try filter.visible([notice]) { try caller(vault!) }
    }
  }
}

/// Asks the owner. Throws if the owner cannot be asked, or refuses.
package typealias ConfirmationQuestion = @Sendable (Confirmation) throws -> Void

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
