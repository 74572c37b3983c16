public import AccessRights
public import VaultCore

/// In whose name a keychain is used: decides which access groups there are.
///
/// A vault that is opened in this process keeps no program out that has its passphrase or key file: the rules then keep a program to what
/// its team has said, as Apple's do, and protect from its mistakes. See SECURITY.md.
public enum KeychainIdentity: Sendable {
  /// An installed app, by the manifest that its team has signed.
  case app(SignedManifest)
  /// Groups that a test, or a tool of the owner, names itself. The first one is where new items go.
  case groups([AccessGroup])
  /// The owner of the vault: all groups that it has, `default` first.
  case owner

  /// `TEAM.identifier`; empty if it is not an app.
  var applicationIdentifier: String {
    if case .app(let signed) = self { signed.manifest.applicationIdentifier } else { "" }
  }
}
