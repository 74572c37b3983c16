internal import VaultCore

/// What the user of a keychain may do at this moment.
struct Access {
  /// Nil for the owner, who may do everything, with groups that are not there yet too.
  let entitlements: Entitlements?

  /// - Throws: `appNotInstalled`; integrity errors.
  init(_ identity: KeychainIdentity, _ vault: borrowing Vault) throws {
    switch identity {
    case .app(let signed): entitlements = try vault.entitlements(of: signed)
    case .groups(let groups): entitlements = Entitlements(all: groups)
    case .owner: entitlements = nil
    }
  }

  /// - Throws: `missingEntitlement`.
  func groupForAdding(_ group: AccessGroup?) throws -> AccessGroup {
    guard let entitlements else { return group ?? .standard }
    return try entitlements.groupForAdding(group)
  }

  /// - Throws: `missingEntitlement`.
  func check(_ group: AccessGroup, _ rights: Entitlements.Rights) throws {
    if let entitlements { try entitlements.check(group, rights) }
  }

  /// Nil: all that there are.
  /// - Throws: `missingEntitlement` for a group by name.
  func groups(for rights: Entitlements.Rights, in group: AccessGroup?) throws -> [AccessGroup]? {
    guard let entitlements else { return group.map { [$0] } }
    return try entitlements.groups(for: rights, in: group)
  }
}
