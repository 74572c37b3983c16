import AccessRights
import SecretMemory
package import VaultCore
package import VaultUpkeep

/// Carries out requests about groups, in any process. Only the owner changes groups.
package struct GroupService {
  private let caller: Caller
  private let now: Timestamp

  package init(_ caller: Caller, at now: Timestamp) {
    self.caller = caller
    self.now = now
  }

  /// - Parameter allowed: Called when nothing but the change itself is left, before it is committed. If it throws, nothing is changed.
  /// - Throws: `missingEntitlement` for a change by another caller than the owner; `groupOfTeam`; as the methods of `Vault`.
  package func carryOut(
    _ request: GroupRequest, in vault: inout Vault, allowed: () throws -> Void = {}
  ) throws -> Answer {
    guard case .list = request else {
      guard caller.isOwner else { throw KeychainError(.missingEntitlement, cause: .gate, "only the owner") }
      try change(request, in: &vault, allowed)
      return .done
    }
    try allowed()
    return .rows(try contents(in: vault).map(\.attributes))
  }

  /// The groups that the caller may list.
  /// - Throws: `locked`; integrity errors.
  package func contents(in vault: borrowing Vault) throws -> [GroupContents] {
    try vault.groupContents().filter { (try? caller.check($0.group, .list)) != nil }
  }

  private func change(_ request: GroupRequest, in vault: inout Vault, _ allowed: () throws -> Void) throws {
    try vault.transaction { transaction in
      switch request {
      case .list: break
      case .create(let group):
        try Self.checkIsOfNoTeam(group)
        try transaction.createGroup(group, at: now)
      case .rename(let old, let new):
        // The name says which team may hold it.
        for group in [old, new] { try Self.checkIsOfNoTeam(group) }
        try transaction.renameGroup(old, to: new)
      case .remove(let group, let newest):
        let pins = try transaction.pinRules().map { try AppPin($0.attributes) }
        if let team = Caller.team(of: group), pins.contains(where: { $0.teamKey.identifier == team }) {
          throw VaultError(.groupOfTeam)
        }
        try transaction.removeGroup(group, withItems: newest != nil, asOf: newest ?? .max)
      }
      try allowed()
    }
  }

  private static func checkIsOfNoTeam(_ group: AccessGroup) throws(VaultError) {
    guard Caller.team(of: group) == nil else { throw VaultError(.groupOfTeam) }
  }
}

extension GroupContents {
  private static func name(_ accessibility: Accessibility) -> String { "class-\(accessibility.rawValue)" }

  /// For an answer.
  package var attributes: Attributes {
    var row = Attributes()
    row["group"] = .text(group.name)
    for (accessibility, count) in itemCounts { row[Self.name(accessibility)] = .integer(count) }
    row["former"] = .integer(formerCount)
    row["generation"] = .integer(generation)
    if let rekey { (row["rekey-done"], row["rekey-total"]) = (.integer(rekey.done), .integer(rekey.total)) }
    for (index, grantee) in grantees.enumerated() { row["grantee-\(index)"] = .text(grantee) }
    return row
  }

  /// - Throws: `agent` for a row of another form.
  package init(_ row: Attributes) throws {
    guard case .text(let name)? = row["group"], case .integer(let formerCount)? = row["former"],
      let group = try? AccessGroup(name)
    else { throw KeychainError(.agent, "a group") }
    self.init(group)
    self.formerCount = formerCount
    if case .integer(let generation)? = row["generation"] { self.generation = generation }
    if case .integer(let done)? = row["rekey-done"], case .integer(let total)? = row["rekey-total"] {
      rekey = RekeyStatus(group: group, done: done, total: total)
    }
    for accessibility in Accessibility.allCases {
      if case .integer(let count)? = row[Self.name(accessibility)] { itemCounts[accessibility] = count }
    }
    while case .text(let grantee)? = row["grantee-\(grantees.count)"] { grantees.append(grantee) }
  }
}
