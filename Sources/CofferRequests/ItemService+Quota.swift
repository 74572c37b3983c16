import AccessRights
package import VaultCore

/// The size of a request for the limit on added items.
extension ItemService {
  /// How many items a request adds, 0 if it may make one larger. Nil if it adds nothing, or is the owner's.
  package func addedItemCount(_ request: borrowing ItemRequest) -> Int? {
    guard !caller.isOwner else { return nil }
    switch request.intention {
    case .adding: return 1
    // The old value is freed, but its size is not looked up.
    case .updating: return 0
    case .nothing, .moving, .removing, .removingUnread: return nil
    }
  }

  /// Whether it is a program's request that removes items.
  package func removes(_ request: borrowing ItemRequest) -> Bool {
    switch request.intention {
    case .removing, .removingUnread: !caller.isOwner
    case .nothing, .adding, .updating, .moving: false
    }
  }

  /// The groups that the program may fill, and that are there.
  /// - Throws: integrity errors.
  package func filledGroups(in vault: borrowing Vault) throws -> [AccessGroup] {
    try vault.groups().filter { (try? caller.check($0, .write)) != nil }
  }
}
