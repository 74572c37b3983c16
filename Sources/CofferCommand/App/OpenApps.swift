import Coffer
import CofferApps
import CofferConsole
import CofferRequests
import VaultCore

/// What is remembered of apps, by a vault that is open here or by the agent that keeps one.
struct OpenApps: ~Copyable {
  /// Nil where the agent is asked.
  private var vault: Vault?
  private let keychain: Keychain?
  /// Whether a person has opened it, and not a key file that lies there for programs.
  let isOwner: Bool
  /// Whether the agent shows what there is, and changes nothing: the owner has proven nothing to it.
  let isReadOnly: Bool

  fileprivate init(_ vault: consuming Vault) throws {
    isOwner = try vault.isOpenedByOwner()
    self.vault = consume vault
    keychain = nil
    isReadOnly = false
  }

  fileprivate init(_ keychain: Keychain, isReadOnly: Bool = false) {
    vault = nil
    self.keychain = keychain
    self.isReadOnly = isReadOnly
    isOwner = !isReadOnly
  }

  /// - Parameter deed: What only the owner does, as in "grant: only the owner …".
  /// - Throws: denied.
  func checkIsOwner(_ verb: String, _ deed: String) throws {
    guard !isOwner else { return }
    throw Failure(
      .denied, "\(verb): a key file lies there for programs, and only the owner \(deed)",
      hint: "open the vault with its passphrase, or with the recovery key")
  }

  /// - Throws: not found, with the groups that there are.
  func checkExists(_ group: AccessGroup, hint: String) throws {
    guard let keychain else { return try vault!.checkExists(group, hint: hint) }
    try OpenItems(keychain, application: nil).checkExists(group, hint: hint)
  }

  /// - Parameter application: Nil for those of all apps and programs.
  func grants(to application: String? = nil) throws -> [Grant] {
    if let keychain { return try keychain.grants(to: application) }
    switch vault {
    case .some(let vault): return try vault.grants(to: application)
    case .none: return []
    }
  }

  mutating func put(_ grant: Grant) throws {
    guard let keychain else { return try vault!.transaction { try $0.put(grant) } }
    try keychain.grant(grant.rights, in: grant.group, to: grant.application, asksForConfirmation: grant.asksForConfirmation)
  }

  mutating func removeGrant(to application: String, _ group: AccessGroup) throws {
    guard let keychain else { return try vault!.transaction { try $0.removeGrant(to: application, group) } }
    try keychain.revoke(group, of: application)
  }

  /// At the end of a command. What was asked for has been done by now, so a state that cannot be recorded is a warning.
  consuming func finish() {
    guard let vault = vault.take() else { return }
    vault.finish()
  }
}

/// What the command may see of items: all by the owner's credential, else what belongs to no team or was granted to `coffer`.
extension OpenApps {
  private func mayList(_ group: AccessGroup) throws -> Bool {
    if isOwner { return true }
    switch vault {
    case .some(let vault): return (try? Caller.command(in: vault).check(group, .list)) != nil
    case .none: return true
    }
  }

  func groups() throws -> [AccessGroup] {
    if let keychain { return try keychain.entitlements.groups.map(\.group) }
    // An optimised build of Swift 6.3.1 crashes on `vault!` before a closure that reads the vault as well.
    let all: [AccessGroup]
    switch vault {
    case .some(let vault): all = try vault.groups()
    case .none: all = []
    }
    return try all.filter { try mayList($0) }
  }

  func entries() throws -> [Entry] {
    if let keychain { return try keychain.items(KeychainQuery()) }
    let all: [Entry]
    switch vault {
    case .some(let vault): all = try vault.entries().entries
    case .none: all = []
    }
    return try all.filter { try mayList($0.reference.group) }
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
  func pins() throws -> [AppPin] {
    if let keychain { return try keychain.appRecords.pins() }
    return try vault!.pins()
  }

  func pin(_ application: String) throws -> AppPin? {
    if let keychain { return try keychain.appRecords.pin(application) }
    return try vault!.pin(application)
  }

  mutating func install(_ signed: SignedManifest, _ bytes: [UInt8], at now: Timestamp) throws {
    guard var records = keychain?.appRecords else { return try vault!.install(signed, bytes, at: now) }
    try records.install(signed, bytes, at: now)
  }

  mutating func markRemoved(_ application: String, at now: Timestamp) throws {
    guard var records = keychain?.appRecords else { return try vault!.markRemoved(application, at: now) }
    try records.markRemoved(application, at: now)
  }

  mutating func removeBoundItems(of application: String) throws {
    guard var records = keychain?.appRecords else { return try vault!.removeBoundItems(of: application) }
    try records.removeBoundItems(of: application)
  }

  func itemCount(of application: String) throws -> Int {
    if let keychain { return try keychain.appRecords.itemCount(of: application) }
    return try vault!.itemCount(of: application)
  }

  mutating func forget(_ application: String) throws -> (items: Int, unavailable: UInt64) {
    guard var records = keychain?.appRecords else { return try vault!.forget(application) }
    return try records.forget(application)
  }
}

extension VaultOptions {
  /// Opens the vault, or has its agent open it, for what concerns apps.
  /// - Parameter isReading: Whether an agent that is unlocked may answer, which asks for no credential then.
  func openApps(isReading: Bool = false) throws -> OpenApps {
    if isReading, !namesCredential, let keychain = try systemAgent() ?? agent(), try keychain.agentState() == .unlocked {
      return OpenApps(keychain, isReadOnly: true)
    }
    guard let keychain = try systemAgent() else { return try OpenApps(open()) }
    try unlock(keychain)
    return OpenApps(keychain)
  }
}
