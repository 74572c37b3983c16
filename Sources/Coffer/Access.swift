internal import VaultCore

/// What the user of a keychain may do at this moment.
struct Access {
  /// Nil for the owner, who may do everything, with groups that are not there yet too.
  let entitlements: Entitlements?
  /// `TEAM.identifier`, for an app.
  let application: String?

  /// - Throws: `appNotInstalled`; integrity errors.
  init(_ identity: KeychainIdentity, _ vault: borrowing Vault) throws {
    switch identity {
    case .app(let signed):
      (entitlements, application) = (try vault.entitlements(of: signed), signed.manifest.applicationIdentifier)
    case .groups(let groups): (entitlements, application) = (Entitlements(all: groups), nil)
    case .owner: (entitlements, application) = (nil, nil)
    }
  }

  /// - Throws: `missingEntitlement`, `confirmationNeeded`.
  func groupForAdding(_ group: AccessGroup?) throws -> AccessGroup {
    guard let entitlements else { return group ?? .standard }
    let group = try entitlements.groupForAdding(group)
    try check(group, .write)
    return group
  }

  /// - Throws: `missingEntitlement`; `confirmationNeeded` where the owner wants to be asked: here is nobody who could.
  func check(_ group: AccessGroup, _ rights: Entitlements.Rights) throws {
    guard let entitlements else { return }
    try entitlements.check(group, rights)
    guard !entitlements.needsConfirmation(group, rights) else { throw KeychainError(.confirmationNeeded, group.name) }
  }

  /// Nil: all that there are.
  /// - Throws: `missingEntitlement` for a group by name.
  func groups(for rights: Entitlements.Rights, in group: AccessGroup?) throws -> [AccessGroup]? {
    guard let entitlements else { return group.map { [$0] } }
    return try entitlements.groups(for: rights, in: group)
  }

  // MARK: Items that go with their app

  /// The item as it is added: bound to the app, or to none.
  /// - Throws: `notAllowed` where it says itself what it is bound to, and where the caller is no app.
  func bind(_ item: Item, installBound: Bool) throws -> Item {
    guard item.attributes[Item.installBound] == nil else {
      throw KeychainError(.notAllowed, "\(Item.installBound) is set by the keychain")
    }
    guard installBound else { return item }
    guard let application else { throw KeychainError(.notAllowed, "only an app has items that go with it") }
    var bound = item
    bound[Item.installBound] = application
    return bound
  }

  /// A change that leaves alone which app the item goes with.
  /// - Throws: `notAllowed`.
  static func keepingBound(_ item: inout Item, _ change: (inout Item) throws -> Void) throws {
    let before = item.attributes[Item.installBound]
    try change(&item)
    guard item.attributes[Item.installBound] == before else {
      throw KeychainError(.notAllowed, "\(Item.installBound) is set by the keychain")
    }
  }
}
