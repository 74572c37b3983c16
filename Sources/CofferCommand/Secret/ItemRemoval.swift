import Coffer
import CofferConsole
import VaultCore
import VaultUpkeep

/// The removal of items by a person's command. An item of which nothing can be kept goes only if the person agrees to that, or has forced it.
struct ItemRemoval {
  private let vault: VaultOptions
  private var mustKeep: Bool

  init(_ vault: VaultOptions, isForced: Bool) { (self.vault, mustKeep) = (vault, !isForced) }

  /// Asks if nothing of the item can be kept, once for all items: the transaction that would remove it finds that out.
  /// - Returns: Whether it can be restored.
  /// - Throws: `locked` if there is no person to ask; `cancelled`.
  mutating func remove(_ name: String, _ remove: (_ mustKeep: Bool) throws -> Bool) throws -> Bool {
    do { return try remove(mustKeep) } catch let error as KeychainError {
      guard mustKeep, error.cause == .vault(.nothingKept) else { throw Self.failure(error, name) }
      let reason = error.detail.isEmpty ? "" : " (\(error.detail))"
      try Question.confirmRemovalForGood(of: "\(name), of which nothing can be kept\(reason)", vault)
      mustKeep = false
      do { return try remove(false) } catch { throw Self.failure(error, name) }
    } catch { throw Failure(error, about: name) }
  }

  private static func failure(_ error: any Error, _ name: String) -> Failure {
    let failure = Failure(error, about: name)
    guard let error = error as? KeychainError, error.code == .full else { return failure }
    return Failure(
      failure.status, failure.message,
      hint: "a removal overwrites the secret: one of more than about 200 KB takes as much room as it has; remove smaller "
        + "items, or make room")
  }

  /// After an item was removed of which nothing was kept. A program that has a helper remove one cannot be asked before.
  static func noteLoss(of name: String) {
    Descriptor.error.note("note: \(name.escapingControls()): removed for good; nothing of it could be kept\n")
  }
}
