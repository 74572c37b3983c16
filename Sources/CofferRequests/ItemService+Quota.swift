package import CofferWire
package import VaultCore

/// What counts for the limit on what a program may add.
extension ItemService {
  /// How many items a call adds, 0 if it may make one larger. Nil if it adds nothing, or is the owner's.
  package func addedItemCount(_ call: borrowing Call) -> Int? {
    guard !caller.isOwner else { return nil }
    switch call {
    case .add: return 1
    // What was there before goes, but nobody has to look how much that was.
    case .update: return 0
    default: return nil
    }
  }

  /// Whether it is a program's call that removes items.
  package func removes(_ call: borrowing Call) -> Bool {
    switch call {
    case .remove: !caller.isOwner
    case .discard: !caller.isOwner
    default: false
    }
  }

  /// The groups that the program may fill, and that are there.
  /// - Throws: integrity errors.
  package func filledGroups(in vault: borrowing Vault) throws -> [AccessGroup] {
    try vault.groups().filter { (try? caller.check($0, .write)) != nil }
  }
}
