import AccessRights
import AppContainers
import ArgumentParser
import Coffer
import CofferApps
import CofferConsole
import CofferFiles
import CofferRequests
import SecretMemory
import VaultCore

/// In whose name a command works with items.
struct AccessOptions: ParsableArguments {
  @Option(
    name: .customLong("as"), help: ArgumentHelp("Do what this app may do, and no more.", valueName: "app"))
  var application: String?

  @Flag(help: "Open the vault here, even if the agent has it open.")
  var noAgent = false

  /// The agent's items, where it has the vault open and nothing in the options says otherwise; else those of the vault that is
  /// opened here.
  /// - Parameter asOwner: See `OwnedVault.agentItems`.
  func open(_ options: VaultOptions, asOwner: Bool = false) throws -> OpenItems {
    try options.ownedVault().agentItems(self, asOwner: asOwner) ?? open(options, options.openPlace())
  }

  func open(_ options: VaultOptions, _ place: VaultPlace) throws -> OpenItems {
    let vault = try options.open(place)
    let signed = try manifest(in: vault)
    let isOwner = try vault.isOpenedByOwner()
    let name = signed?.manifest.applicationIdentifier ?? Caller.commandName
    let isInputAllowed = !options.noInput
    let log = try DirectAccessLog(in: AuditPlace.state(), application: signed?.manifest.applicationIdentifier ?? "") { error in
      Descriptor.error.note("coffer: warning: the audit log: \(Failure(error).message.escapingControls())\n")
    }
    let keychain = try Keychain(vault, log: log) { confirmation in
      try OpenItems.confirm(confirmation, name, isInputAllowed)
    } caller: { vault in
      switch (signed, isOwner) {
      case (nil, true): .owner
      case (nil, false): try .command(in: vault)
      case (let signed?, true): try Caller(signed, in: vault)
      case (let signed?, false): try .command(as: signed, in: vault)
      }
    }
    return OpenItems(keychain, application: signed?.manifest.applicationIdentifier)
  }

  private func manifest(in vault: borrowing Vault) throws -> SignedManifest? {
    guard let application else { return nil }
    let apps = try AppPlace.apps()
    let name = try about(application) { try apps.pin(named: application, in: vault) }.applicationIdentifier
    return try about(name) {
      guard let signed = try apps.bundle(name)?.signed ?? developed(name) else { throw VaultError(.appNotInstalled) }
      // An older manifest of the team's may give more than the one that was installed.
      guard try signed.manifest.version == vault.pin(name)?.version else {
        throw AppsError(.bundleDamaged, "version \(signed.manifest.version) lies in the place of the installed one")
      }
      return signed
    }
  }

  /// The app of `coffer app dev`, which lies in no place of apps.
  private func developed(_ name: String) throws -> SignedManifest? {
    guard let path = Environment[RunningApp.manifestVariable] else { return nil }
    let signed = try ProgramOfApp.manifest(inFile: path)
    return signed.manifest.applicationIdentifier.utf8.elementsEqual(name.utf8) ? signed : nil
  }
}
