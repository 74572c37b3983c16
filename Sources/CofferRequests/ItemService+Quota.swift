import AccessRights
import SecretMemory
package import VaultCore
import VaultUpkeep

/// The size of a request for the limit on added items.
extension ItemService {
  /// How many items a request adds, 0 if it may make one larger. Nil if it adds nothing, or is the owner's.
  /// - Throws: integrity errors.
  package func addedItemCount(_ request: borrowing ItemRequest, in vault: borrowing Vault) throws -> Int? {
    guard !caller.isOwner else { return nil }
    switch request.intention {
    case .adding: return 1
    case .addingAll(let count): return count
    // The old value becomes a former version. A removed item that comes back is one more.
    case .updating(let reference): return try request.kind == .restore && !vault.hasItem(reference) ? 1 : 0
    case .nothing, .moving, .removing, .removingUnread: return nil
    }
  }

  /// Whether it is a program's request that removes items.
  package func removes(_ request: borrowing ItemRequest) -> Bool {
    switch request.intention {
    case .removing, .removingUnread: !caller.isOwner
    case .nothing, .adding, .addingAll, .updating, .moving: false
    }
  }

  /// The groups that the program may fill, and that are there.
  /// - Throws: integrity errors.
  package func filledGroups(in vault: borrowing Vault) throws -> [AccessGroup] {
    try vault.groups().filter { (try? caller.check($0, .write)) != nil }
  }
}

extension Vault {
  fileprivate borrowing func hasItem(_ reference: Reference) throws -> Bool {
    do {
      return try history(of: reference).removed == nil
    } catch let error as VaultError where error.code == .notFound || error.code == .groupNotFound {
      return false
    }
  }
}
