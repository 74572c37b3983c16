internal import Glibc
package import ItemService
internal import Synchronization
internal import VaultCore
internal import Wire

/// A vault that is open in this process. All uses of it are within the lock, which is what makes it sendable.
final class InProcessTransport: KeychainTransport, @unchecked Sendable {
  /// In whose name, asked anew for each call: what was granted may have been taken back.
  private let caller: @Sendable (borrowing Vault) throws -> Caller
  private let confirm: ConfirmationQuestion
  private let mutex = Mutex(())
  private var vault: Vault?

  /// - Throws: `appNotInstalled`: an app that the vault does not know, or that was removed, gets nothing at all.
  convenience init(_ vault: consuming Vault, as identity: KeychainIdentity) throws {
    try self.init(vault) { try identity.caller(in: $0) }
  }

  init(
    _ vault: consuming Vault,
    confirm: @escaping ConfirmationQuestion = { throw KeychainError(.confirmationNeeded, $0.group.name) },
    caller: @escaping @Sendable (borrowing Vault) throws -> Caller
  ) throws {
    self.caller = caller
    self.confirm = confirm
    try put(vault)
  }

  /// Saves the anchor, and tells of a failure.
  func close() throws {
    var old: Vault?
    mutex.withLock { _ in swap(&vault, &old) }
    guard let old = old.take() else { return }
    try old.close()
  }

  var isLocked: Bool { mutex.withLock { _ in vault == nil } }

  func lock() {
    var old: Vault?
    mutex.withLock { _ in swap(&vault, &old) }
  }

  /// - Throws: `appNotInstalled`; integrity errors.
  func put(_ new: consuming Vault) throws {
    do {
      _ = try caller(new)
    } catch {
      throw KeychainError(error)
    }
    var new: Vault? = consume new
    mutex.withLock { _ in swap(&vault, &new) }
  }

  func answer(_ call: consuming Call) throws -> Answer {
    var call: Call? = consume call
    return try mutex.withLock { _ in
      guard vault != nil, let call = call.take() else { throw KeychainError(.locked) }
      // What the question says is the caller's own.
      var refusal: (any Error)?
      do {
        let service = ItemService(try caller(vault!), at: .now) { confirmation in
          do {
            try self.confirm(confirmation)
          } catch {
            refusal = error
            throw error
          }
        }
        return try service.answer(call, in: &vault!)
      } catch {
        throw refusal ?? KeychainError(error)
      }
    }
  }
}

/// Asks the owner. Throws where nobody can be asked, and where the answer is no.
package typealias ConfirmationQuestion = @Sendable (ItemService.Confirmation) throws -> Void

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
