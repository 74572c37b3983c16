package import VaultCore

/// In whose name items are used, and what that allows at this moment.
package struct Caller {
  /// Nil for the owner, who may do everything, with groups that are not there yet too.
  package let entitlements: Entitlements?
  /// `TEAM.identifier`, for an app.
  package let application: String?

  package static let owner = Caller(entitlements: nil, application: nil)

  package init(entitlements: Entitlements?, application: String?) {
    self.entitlements = entitlements
    self.application = application
  }

  /// - Throws: `appNotInstalled`; integrity errors.
  package init(_ signed: SignedManifest, in vault: borrowing Vault) throws {
    self.init(entitlements: try vault.entitlements(of: signed), application: signed.manifest.applicationIdentifier)
  }

  // MARK: Groups

  /// - Throws: `missingEntitlement`.
  func check(_ group: AccessGroup, _ rights: Entitlements.Rights) throws {
    _ = try entitlements?.check(group, rights)
  }

  /// - Throws: `missingEntitlement`.
  func groupForAdding(_ group: AccessGroup?) throws -> AccessGroup {
    guard let entitlements else { return group ?? .standard }
    return try entitlements.groupForAdding(group)
  }

  /// Nil: all that there are.
  /// - Throws: `missingEntitlement` for a group by name.
  func groups(for rights: Entitlements.Rights, in group: AccessGroup?) throws -> [AccessGroup]? {
    guard let entitlements else { return group.map { [$0] } }
    return try entitlements.groups(for: rights, in: group)
  }

  func needsConfirmation(_ group: AccessGroup, _ rights: Entitlements.Rights) -> Bool {
    entitlements?.needsConfirmation(group, rights) ?? false
  }

  // MARK: Items that go with their app

  /// The item as it is added: bound to the app, or to none.
  /// - Throws: `notAllowed` where it says itself what it is bound to, and where the caller is no app.
  func bind(_ item: Item, installBound: Bool) throws -> Item {
    guard item.attributes[Item.installBound] == nil else { throw Self.boundByKeychain }
    guard installBound else { return item }
    guard let application else { throw KeychainError(.notAllowed, "only an app has items that go with it") }
    var bound = item
    bound[Item.installBound] = application
    return bound
  }

  static let boundByKeychain = KeychainError(.notAllowed, "\(Item.installBound) is set by the keychain")
}
