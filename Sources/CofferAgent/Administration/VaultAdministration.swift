import AccessRights
package import AppContainers
import CofferApps
import CofferFiles
import CofferLifecycle
import CofferRequests
package import CofferStorage
import Glibc
import SecretMemory
import VaultCore

/// Administration by a system agent, which keeps the vault and the apps' manifests where the user's programs cannot reach them.
///
/// If the agent runs as the user, the command does all of this with the files itself.
package final class VaultAdministration: Sendable {
  let vault: AgentVault
  let places: Places
  /// The directory of the manifests. The command installs executables and containers as the user.
  private let data: DataDirectory

  package init(_ vault: AgentVault, _ places: Places, _ data: DataDirectory) {
    self.vault = vault
    self.places = places
    self.data = data
  }

  static var now: Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }

  // MARK: The vault

  /// - Parameters:
  ///   - ownedAt: As `AgentVault.unlock` says it, where the request makes the vault, and so its owner.
  ///   - allowed: Called when everything that can be refused has been looked at, before anything is done.
  func answer(_ request: consuming VaultRequest, _ ownedAt: inout UInt64?, allowed: () throws -> Void = {}) throws -> Answer {
    switch consume request {
    case .create(let credential, let kdf, let recovery): ownedAt = try create(credential, kdf, recovery, allowed)
    case .addSlot(let credential, let kdf, let proof):
      try Self.check(kdf)
      try change(by: proof, allowed) { _ = try $0.addSlot(credential, kdf: kdf) }
    case .replaceSlot(let id, let credential, let kdf, let proof):
      try Self.check(kdf)
      try change(by: proof, allowed) { try $0.replaceSlot(id, with: credential, kdf: kdf) }
    case .removeSlot(let id, let proof): try change(by: proof, allowed) { try $0.removeSlot(id) }
    }
    return .done
  }

  /// Then there is no other owner than who has one of them.
  func hasKeyFilesAlone() throws -> Bool { try !vault.use { try $0.isOwnedByPerson() } }

  private func create(
    _ credential: borrowing Credential, _ kdf: KDFParameters, _ recovery: consuming Credential?, _ allowed: () throws -> Void
  ) throws -> UInt64? {
    try Self.check(kdf)
    let store = try FileStore.create(at: places.vault)
    try allowed()
    let vault = try Vault.create(
      in: store, with: credential, kdf: kdf, at: Self.now, anchor: places.anchors(forVaultAt: store.path), second: recovery)
    let deviceKeys = places.deviceKeys(of: vault.keys.vault)
    // Without a key it has no items of this device. It is made: its recovery key counts, and the client has to show it.
    try? deviceKeys.createBesideShared()
    _ = try? deviceKeys.open(vault, making: true)
    let isOwner = try vault.isOpenedByOwner()
    let count = try self.vault.put(vault)
    return isOwner ? count : nil
  }

  /// Clients derive their keys on this machine. One that costs more than this none of them would open again.
  private static func check(_ kdf: KDFParameters) throws(VaultError) { try KDFCeiling.ofThisMachine.check(kdf) }

  /// A key file that lies there for programs opens the vault, and changes no way into it.
  private func change(
    by proof: borrowing Credential, _ allowed: () throws -> Void, _ body: (inout Vault) throws -> Void
  ) throws {
    var opened = try vault.open(proof)
    guard try opened.isOpenedByOwner() else { throw Self.notOwner }
    try allowed()
    try body(&opened)
    try opened.close()
  }

  static let notOwner = KeychainError(.missingEntitlement, cause: .gate, "only the owner")

  // MARK: Apps

  func answer(_ request: AppRequest) throws -> Answer {
    do {
      return try vault.use { vault in
        let apps = try InstalledApps(in: data, hasExecutables: false)
        // The next request finishes or undoes an interrupted one.
        try apps.recover(in: &vault)
        return try answer(request, apps, &vault)
      }
    } catch let error as AppsError {
      throw KeychainError(.notAllowed, cause: .apps(error.code.name), error.detail)
    } catch let error as FileError {
      throw KeychainError(.storage, cause: .containers(error.code.name), error.detail)
    }
  }

  private func answer(_ request: AppRequest, _ apps: InstalledApps, _ vault: inout Vault) throws -> Answer {
    switch request {
    case .pins: return .rows(try vault.pins().map(\.attributes))
    case .install(let manifest): try apps.install(manifest, from: nil, in: &vault, at: Self.now)
    case .uninstall(let application): try apps.remove(application, in: &vault, at: Self.now)
    case .itemCount(let application):
      var row = Attributes()
      row["items"] = .integer(UInt64(try vault.itemCount(of: application)))
      return .rows([row])
    case .forget(let application):
      let forgotten = try apps.forget(application, in: &vault)
      var row = Attributes()
      row["items"] = .integer(UInt64(forgotten.items))
      row["unavailable"] = .integer(forgotten.unavailable)
      return .rows([row])
    case .grants(let application): return .rows(try vault.grants(to: application).map(\.attributes))
    case .grant(let application, let group, let rights, let asks):
      try vault.transaction { transaction in
        try transaction.put(Grant(to: application, group, rights, asksForConfirmation: asks, at: Self.now))
      }
    case .revoke(let application, let group):
      try vault.transaction { try $0.removeGrant(to: application, group) }
    case .leases, .endLease, .log, .logPart: throw KeychainError(.notAllowed)
    }
    return .done
  }
}
