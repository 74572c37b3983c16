import Apps
import Coffer
import ItemService
import VaultCore

/// What is remembered of apps, by a vault that is open here or by the agent that keeps one.
struct OpenApps: ~Copyable {
  /// Nil where the agent is asked.
  private var vault: Vault?
  private let keychain: Keychain?
  /// Whether a person has opened it, and not a key file that lies there for programs.
  let isOwner: Bool

  fileprivate init(_ vault: consuming Vault) throws {
    isOwner = try vault.isOpenedByOwner()
    self.vault = consume vault
    keychain = nil
  }

  fileprivate init(_ keychain: Keychain) {
    vault = nil
    self.keychain = keychain
    // The agent speaks of apps to nobody else.
    isOwner = true
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

  func grants(to application: String) throws -> [Grant] {
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
  func openApps() throws -> OpenApps {
    guard let keychain = try systemAgent() else { return try OpenApps(open()) }
    try unlock(keychain)
    return OpenApps(keychain)
  }
}
