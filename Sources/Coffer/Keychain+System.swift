package import AccessRights
package import CofferApps
package import CofferRequests
internal import CofferStorage
package import CofferWire
internal import Glibc
internal import Pinentry
package import SecretMemory
package import VaultCore
package import VaultUpkeep

/// Requests to an agent that keeps the vault itself; they cannot be done with the vault's file.
extension Keychain {
  /// The keychain of the agent that runs under a user of its own, whose vault no program of this user can read. Nothing is asked
  /// yet.
  public static func connectToSystemAgent() -> Keychain { connectToSystemAgent(of: geteuid()) }

  /// The keychain of another user's system agent, which answers few requests of root, and none of anybody else.
  package static func connectToSystemAgent(of user: UInt32) -> Keychain {
    Keychain(AgentTransport(AgentSocket(path: Places.systemSocket(of: user), isOfSystem: true)))
  }

  // MARK: The vault

  /// - Parameter recovery: The text of a recovery key that opens it too; empty: none.
  /// - Throws: `storage` with the cause `vaultExists`; what the credential throws.
  package func createVault(
    with credential: borrowing Credential, kdf: KDFParameters, recovery: consuming Secret
  ) throws {
    var second: Credential?
    if recovery.count > 0 { second = try Self.derived(.recoveryKey(recovery), forNewSlot: kdf) }
    _ = try agent.answer(.vault(.create(Self.derived(credential, forNewSlot: kdf), kdf, recovery: second)))
  }

  package func hasVault() throws -> Bool {
    do {
      _ = try vaultStatus()
      return true
    } catch KeychainError.Code.noVault { return false }
  }

  /// The state of the vault's file, without proof.
  package func vaultStatus() throws -> VaultSummary {
    do { return try VaultSummary(wireRows: rows(.session(.inspect))) } catch let error as WireError {
      throw Self.misunderstood(error)
    }
  }

  /// - Parameter proof: A credential of the owner that opens the vault now.
  package func addSlot(
    _ credential: borrowing Credential, kdf: KDFParameters, by proof: borrowing Credential, ceiling: KDFCeiling
  ) throws {
    let new = try Self.derived(credential, forNewSlot: kdf)
    try withDerived(proof, ceiling) { _ = try agent.answer(.vault(.addSlot(new.duplicate(), kdf, by: $0))) }
  }

  package func replaceSlot(
    _ id: Identifier, with credential: borrowing Credential, kdf: KDFParameters, by proof: borrowing Credential,
    ceiling: KDFCeiling
  ) throws {
    let new = try Self.derived(credential, forNewSlot: kdf)
    try withDerived(proof, ceiling) { _ = try agent.answer(.vault(.replaceSlot(id, new.duplicate(), kdf, by: $0))) }
  }

  package func removeSlot(_ id: Identifier, by proof: borrowing Credential, ceiling: KDFCeiling) throws {
    try withDerived(proof, ceiling) { _ = try agent.answer(.vault(.removeSlot(id, by: $0))) }
  }

  // MARK: Groups

  /// The groups that this program may list, with the number of items in each.
  package func groupContents() throws -> [GroupContents] { try rows(.groups(.list)).map { try GroupContents($0) } }

  /// A change by the owner, who has unlocked the vault through this keychain.
  package func change(_ request: GroupRequest) throws { _ = try agent.answer(.groups(request)) }

  // MARK: Apps

  /// The agent's records of apps. `coffer` may read them while the vault is unlocked; only the owner may change them, who has
  /// unlocked the vault through this keychain.
  package var appRecords: AgentAppRecords { AgentAppRecords(self) }

  /// - Parameter application: Nil for those of all.
  package func grants(to application: String?) throws -> [Grant] {
    try rows(.apps(.grants(application))).map { try Grant($0) }
  }

  package func grant(
    _ rights: Entitlements.Rights, in group: AccessGroup, to application: String, asksForConfirmation: Bool
  ) throws {
    _ = try agent.answer(.apps(.grant(application, group, rights, asksForConfirmation: asksForConfirmation)))
  }

  package func revoke(_ group: AccessGroup, of application: String) throws {
    _ = try agent.answer(.apps(.revoke(application, group)))
  }

  /// The owner's agreements that are valid now.
  package func leases() throws -> [OpenLease] {
    do { return try rows(.apps(.leases)).map { try OpenLease(wireRow: $0) } } catch let error as WireError {
      throw Self.misunderstood(error)
    }
  }

  /// - Throws: `notFound` if there is no such lease.
  package func endLease(_ number: UInt64) throws { _ = try agent.answer(.apps(.endLease(number))) }

  /// The agent, for requests that are not about items.
  /// - Throws: `notAllowed` if the vault is open in this process.
  var agent: AgentTransport {
    get throws {
      guard let agent = transport as? AgentTransport else {
        throw KeychainError(.notAllowed, "the vault is open in this process")
      }
      return agent
    }
  }

  func rows(_ request: consuming Request) throws -> [Attributes] {
    guard case .rows(let rows) = try agent.answer(request) else { throw KeychainError.otherAnswer }
    return rows
  }

  static func misunderstood(_ error: WireError) -> KeychainError { KeychainError(.agent, "\(error.code.name): \(error.detail)") }
}

/// Executables and containers lie with the user, and are put in place by the user's command; what decides is the agent's.
package struct AgentAppRecords: AppRecords {
  private let keychain: Keychain

  init(_ keychain: Keychain) { self.keychain = keychain }

  package func pins() throws -> [AppPin] { try keychain.rows(.apps(.pins)).map { try AppPin($0) } }

  package func pin(_ application: String) throws -> AppPin? {
    try pins().first { $0.applicationIdentifier.utf8.elementsEqual(application.utf8) }
  }

  package mutating func install(_ signed: SignedManifest, _ bytes: [UInt8], at now: Timestamp) throws {
    _ = try keychain.agent.answer(.apps(.install(bytes)))
  }

  package mutating func markRemoved(_ application: String, at now: Timestamp) throws {
    _ = try keychain.agent.answer(.apps(.uninstall(application)))
  }

  /// They have gone with the app. Where that was interrupted, the agent has finished it before it answers anything about apps.
  package mutating func removeBoundItems(of application: String) throws -> Int {
    _ = try pins()
    // The agent has reported damaged records as the error of the removal.
    return 0
  }

  package func itemCount(of application: String) throws -> Int {
    Int(clamping: try count("items", in: keychain.rows(.apps(.itemCount(application)))))
  }

  package mutating func forget(_ application: String) throws -> ForgottenApp {
    let rows = try keychain.rows(.apps(.forget(application)))
    // The agent has reported damaged records as an error.
    return ForgottenApp(
      items: Int(clamping: try count("items", in: rows)), unavailable: try count("unavailable", in: rows), damaged: 0)
  }

  private func count(_ name: String, in rows: [Attributes]) throws -> UInt64 {
    guard case .integer(let number)? = rows.first?[name] else { throw KeychainError.otherAnswer }
    return number
  }
}
