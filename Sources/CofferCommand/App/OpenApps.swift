import AccessRights
import Coffer
import CofferApps
import CofferConsole
import CofferRequests
import VaultCore

/// The records about apps, in a vault that is open in this process or in the agent's.
struct OpenApps: ~Copyable {
  /// nil if the agent is asked.
  private var vault: Vault?
  private let keychain: Keychain?
  /// Whether a person has opened it, and not a key file that lies there for programs.
  let isOwner: Bool
  /// Whether the agent shows what there is, and changes nothing: the owner has proven nothing to it.
  let isReadOnly: Bool

  init(_ vault: consuming Vault) throws {
    isOwner = try vault.isOpenedByOwner()
    self.vault = consume vault
    keychain = nil
    isReadOnly = false
  }

  init(_ keychain: Keychain, isReadOnly: Bool = false) {
    vault = nil
    self.keychain = keychain
    self.isReadOnly = isReadOnly
    isOwner = !isReadOnly
  }

  /// - Parameter deed: The act that is reserved for the owner, as in "grant: only the owner …".
  /// - Throws: denied.
  func checkIsOwner(_ verb: String, _ deed: String) throws {
    guard !isOwner else { return }
    throw Failure(
      .denied, "\(verb): a key file lies there for programs, and only the owner \(deed)",
      hint: "open the vault with its passphrase, or with the recovery key")
  }

  // MARK: Two ways

  borrowing func reading<Result>(
    _ agent: (Keychain) throws -> Result, _ file: (borrowing Vault) throws -> Result
  ) throws -> Result {
    if let keychain { return try agent(keychain) }
    switch vault {
    case .some(let vault): return try file(vault)
    case .none: throw VaultError(.locked)
    }
  }

  mutating func changing<Result>(
    _ agent: (Keychain) throws -> Result, _ file: (inout Vault) throws -> Result
  ) throws -> Result {
    if let keychain { return try agent(keychain) }
    return try file(&vault!)
  }

  /// - Throws: not found, with the groups that there are.
  func checkExists(_ group: AccessGroup, hint: String) throws {
    try reading({ try OpenItems($0, application: nil).checkExists(group, hint: hint) }, { try $0.checkExists(group, hint: hint) })
  }

  /// - Parameter application: Nil for those of all apps and programs.
  func grants(to application: String? = nil) throws -> [Grant] {
    try reading({ try $0.grants(to: application) }, { try $0.grants(to: application) })
  }

  mutating func put(_ grant: Grant) throws {
    try changing(
      { try $0.grant(grant.rights, in: grant.group, to: grant.application, asksForConfirmation: grant.asksForConfirmation) },
      { try $0.transaction { try $0.put(grant) } })
  }

  mutating func removeGrant(to application: String, _ group: AccessGroup) throws {
    try changing(
      { try $0.revoke(group, of: application) }, { try $0.transaction { try $0.removeGrant(to: application, group) } })
  }

  /// Called at the end of a command. The command is done by then, so a state that cannot be recorded is a warning.
  consuming func finish() {
    guard let vault = vault.take() else { return }
    vault.finish()
  }
}

/// The items that the command may see: all with the owner's credential, otherwise those of no team and those granted to `coffer`.
extension OpenApps {
  private func mayList(_ group: AccessGroup, in vault: borrowing Vault) throws -> Bool {
    if isOwner { return true }
    return (try? Caller.command(in: vault).check(group, .list)) != nil
  }

  func groups() throws -> [AccessGroup] {
    try reading(
      { try $0.entitlements.groups.map(\.group) },
      { vault in
        var groups: [AccessGroup] = []
        for group in try vault.groups() where try mayList(group, in: vault) { groups.append(group) }
        return groups
      })
  }

  func entries() throws -> [Entry] {
    try reading(
      { try $0.items(KeychainQuery()) },
      { vault in
        var entries: [Entry] = []
        for entry in try vault.entries().entries where try mayList(entry.reference.group, in: vault) { entries.append(entry) }
        return entries
      })
  }

  /// An item of any class, by its exact name. Nil if there is none.
  func entry(_ name: ItemName) throws -> Entry? {
    let group = try name.group.map { try AccessGroup($0) } ?? .standard
    return try entries().first { entry in
      guard entry.reference.group == group else { return false }
      let item = try name.item(entry.item.itemClass)
      return entry.item.itemClass.primaryAttributes.allSatisfy { (name, absent) in
        (entry.item.attributes[name] ?? absent) == (item.attributes[name] ?? absent)
      }
    }
  }
}

extension OpenApps: AppRecords {
  func pins() throws -> [AppPin] { try reading({ try $0.appRecords.pins() }, { try $0.pins() }) }

  func pin(_ application: String) throws -> AppPin? {
    try reading({ try $0.appRecords.pin(application) }, { try $0.pin(application) })
  }

  mutating func install(_ signed: SignedManifest, _ bytes: [UInt8], at now: Timestamp) throws {
    try changing({ try $0.records { try $0.install(signed, bytes, at: now) } }, { try $0.install(signed, bytes, at: now) })
  }

  mutating func markRemoved(_ application: String, at now: Timestamp) throws {
    try changing({ try $0.records { try $0.markRemoved(application, at: now) } }, { try $0.markRemoved(application, at: now) })
  }

  mutating func removeBoundItems(of application: String) throws -> Int {
    try changing({ try $0.records { try $0.removeBoundItems(of: application) } }, { try $0.removeBoundItems(of: application) })
  }

  func itemCount(of application: String) throws -> Int {
    try reading({ try $0.appRecords.itemCount(of: application) }, { try $0.itemCount(of: application) })
  }

  mutating func forget(_ application: String) throws -> ForgottenApp {
    try changing({ try $0.records { try $0.forget(application) } }, { try $0.forget(application) })
  }
}

extension Keychain {
  fileprivate func records<Result>(_ body: (inout AgentAppRecords) throws -> Result) throws -> Result {
    var records = appRecords
    return try body(&records)
  }
}
