import AccessRights
import CofferConsole
import CofferRequests
import SecretMemory
import VaultCore

extension Vault {
  // MARK: Groups

  /// - Throws: not found, with the groups that there are, as far as the command may look into them.
  borrowing func checkExists(_ group: AccessGroup, hint: String) throws {
    guard try !contains(group) else { return }
    let caller = try isOpenedByOwner() ? Caller.owner : .command(in: self)
    throw Failure.noGroup(group, of: try groups().filter { (try? caller.check($0, .list)) != nil }, hint: hint)
  }

  /// Whether the group is still to be made.
  /// - Throws: not found, where it is not there and `isCreated` is false.
  borrowing func lacks(_ group: AccessGroup, isCreated: Bool) throws -> Bool {
    guard isCreated else {
      try checkExists(group, hint: "--create-group makes it")
      return false
    }
    return try !contains(group)
  }
}

extension Transaction {
  /// A group that was not there; another process may have made it since.
  mutating func makeGroup(_ group: AccessGroup) throws {
    do { try createGroup(group, at: .now()) } catch VaultError.Code.groupExists {}
  }
}
