package import AccessRights
package import VaultCore

/// In whose name items are used, and what that allows at this moment.
package struct Caller {
  private enum Scope {
    /// Everything, with groups that are not there yet too.
    case all
    case held(Entitlements)
    /// Groups of no team, and those groups of teams that the owner has granted.
    case unowned(granted: Entitlements)
    /// This group, and those below it; in some of them after a question.
    case below(AccessGroup, asking: Entitlements)
  }

  private let scope: Scope
  /// The command's own grants, if they limit its acts in an app's name.
  private let limit: Entitlements?
  /// `TEAM.identifier`, for an app; for another program the name under which it was granted something.
  package let application: String?
  private let isApp: Bool
  /// Whether it may remove a value for good.
  private(set) var endsVersions = true

  /// The name under which something is granted to the command `coffer`.
  package static let commandName = "coffer"

  private init(_ scope: Scope, application: String? = nil, isApp: Bool = true, within limit: Entitlements? = nil) {
    self.isApp = isApp
    self.scope = scope
    self.limit = limit
    self.application = application
  }

  package static let owner = Caller(.all)

  /// Groups that a test, or a tool of the owner, names itself.
  package init(_ groups: [AccessGroup]) { self.init(.held(Entitlements(all: groups))) }

  /// - Throws: `appNotInstalled`; integrity errors.
  package init(_ signed: SignedManifest, in vault: borrowing Vault) throws {
    self.init(.held(try vault.entitlements(of: signed)), application: signed.manifest.applicationIdentifier)
  }

  /// The command, which every program of the user can start.
  /// - Throws: integrity errors.
  package static func command(in vault: borrowing Vault) throws -> Caller {
    Caller(.unowned(granted: try granted(in: vault)))
  }

  /// A program that is not an app, by the name under which it was granted something.
  /// - Throws: `missingEntitlement` where nothing was; integrity errors.
  package static func granted(to program: String, in vault: borrowing Vault) throws -> Caller {
    let grants = try vault.grants(to: program)
    guard !grants.isEmpty else { throw KeychainError(.missingEntitlement, "nothing was granted to \(program)") }
    return Caller(.held(Entitlements(grants.map(\.entitlement))), application: program, isApp: false)
  }

  /// A program of Coffer with groups of its own. A grant gives it no other ones, and may ask for the owner's word in them.
  /// - Throws: integrity errors.
  package static func own(_ program: OwnProgram, in vault: borrowing Vault) throws -> Caller {
    let scope: Scope =
      switch program.groups {
      case .these(let groups): .held(Entitlements(groups))
      case .below(let group):
        .below(group, asking: Entitlements(try vault.grants(to: program.rawValue).map(\.entitlement)))
      case .ofCommand: .unowned(granted: try granted(in: vault))
      }
    return Caller(scope, application: program.rawValue, isApp: false)
  }

  /// The command in an app's name, which gives it nothing that it has not: it stays within what it was granted itself.
  /// - Throws: `appNotInstalled`; integrity errors.
  package static func command(as signed: SignedManifest, in vault: borrowing Vault) throws -> Caller {
    Caller(
      .held(try vault.entitlements(of: signed)), application: signed.manifest.applicationIdentifier,
      within: try granted(in: vault))
  }

  private static func granted(in vault: borrowing Vault) throws -> Entitlements {
    Entitlements(try vault.grants(to: commandName).map(\.entitlement))
  }

  /// The same program, where only the owner, or the policy of the vault, ends a value that was replaced or removed.
  package func keepingVersions() -> Caller {
    var caller = self
    caller.endsVersions = isOwner
    return caller
  }

  /// The owner is not asked for confirmation.
  var isOwner: Bool { if case .all = scope { true } else { false } }

  // MARK: Groups

  /// `coffer-secrets` tells of each secret what it contains.
  var needsEntries: Bool { !isApp && application == OwnProgram.secretService.rawValue }

  /// nil if the rights follow a rule instead of a list.
  var entitlements: Entitlements? {
    if case .held(let entitlements) = scope { entitlements } else { nil }
  }

  /// - Throws: `missingEntitlement`.
  package func check(_ group: AccessGroup, _ rights: Entitlements.Rights) throws {
    switch scope {
    case .all: break
    case .held(let entitlements):
      try entitlements.check(group, rights)
      if let limit { try Self.checkCommand(limit, group, rights) }
    case .unowned(let granted): try Self.checkCommand(granted, group, rights)
    case .below(let root, asking: _):
      // By bytes: a mark that combines with the slash makes another character of it.
      guard group.name.utf8.elementsEqual(root.name.utf8) || group.name.utf8.starts(with: "\(root.name)/".utf8) else {
        throw KeychainError(.missingEntitlement, group.name)
      }
    }
  }

  private static func checkCommand(_ granted: Entitlements, _ group: AccessGroup, _ rights: Entitlements.Rights) throws {
    guard team(of: group) != nil, (try? granted.check(group, rights)) == nil else { return }
    throw KeychainError(.missingEntitlement, cause: .groupOfTeam, group.name)
  }

  /// The team whose identifier the group's name begins with. nil if there is none.
  package static func team(of group: AccessGroup) -> TeamIdentifier? {
    // By bytes, as the manifest's rule is: a mark that combines with the dot makes another character of it, and no other group.
    guard let dot = group.name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
    return try? TeamIdentifier(String(group.name[..<dot]))
  }

  /// - Throws: `missingEntitlement`.
  func groupForAdding(_ group: AccessGroup?) throws -> AccessGroup {
    if case .held(let entitlements) = scope {
      let group = try entitlements.groupForAdding(group)
      try check(group, .write)
      return group
    }
    let group = group ?? .standard
    try check(group, .write)
    return group
  }

  /// Nil: all that `check` lets pass.
  /// - Throws: `missingEntitlement` for a group by name.
  func groups(for rights: Entitlements.Rights, in group: AccessGroup?) throws -> [AccessGroup]? {
    if case .held(let entitlements) = scope {
      if let group { try check(group, rights) }
      return try entitlements.groups(for: rights, in: group).filter { (try? check($0, rights)) != nil }
    }
    guard let group else { return nil }
    try check(group, rights)
    return [group]
  }

  func needsConfirmation(_ group: AccessGroup, _ rights: Entitlements.Rights) -> Bool {
    switch scope {
    case .all: false
    case .below(_, let entitlements): entitlements.needsConfirmation(group, rights)
    case .held(let entitlements), .unowned(let entitlements):
      entitlements.needsConfirmation(group, rights) || limit?.needsConfirmation(group, rights) ?? false
    }
  }

  /// - Throws: `missingEntitlement`.
  func checkEndsVersions(_ reason: String = "") throws {
    guard !endsVersions else { return }
    throw KeychainError(
      .missingEntitlement, cause: .gate, "only the owner removes for good\(reason.isEmpty ? "" : ": \(reason)")")
  }

  // MARK: Items that go with their app

  /// The item as it is added: bound to the app, or to none.
  /// - Throws: `notAllowed` where it says itself what it is bound to, and where the caller is not an app.
  func bind(_ item: Item, installBound: Bool) throws -> Item {
    guard item.attributes[Item.installBound] == nil else { throw Self.boundByKeychain }
    guard installBound else { return item }
    guard let application, isApp else { throw KeychainError(.notAllowed, "only an app has items that go with it") }
    var bound = item
    bound[Item.installBound] = application
    return bound
  }

  static let boundByKeychain = KeychainError(.notAllowed, "\(Item.installBound) is set by the keychain")
}

extension Vault {
  private static let kindsOfPersons: Set<SlotType> = [.passphrase, .passphraseAndKeyFile, .recoveryKey]

  /// Whether there is something that opens it beside key files, which lie about for programs.
  /// - Throws: integrity errors.
  package borrowing func isOwnedByPerson() throws -> Bool {
    try status().slots.contains { Self.kindsOfPersons.contains($0.type) }
  }

  /// Whether the credential is the owner's: a passphrase is, because a person types it. In a vault with key files alone, each is.
  /// - Throws: integrity errors.
  package borrowing func isOpenedByOwner() throws -> Bool {
    try Self.kindsOfPersons.contains(openedSlot.type) || !isOwnedByPerson()
  }
}
