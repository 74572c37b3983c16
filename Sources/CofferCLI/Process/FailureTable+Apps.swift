extension FailureTable {
  private static let manifest = "mend the manifest and sign it again: coffer app lint FILE says whether it will do"

  /// Errors of the module VaultCore that concern teams, manifests and rights.
  static let apps: [String: Entry] = [
    "teamMalformed": .init(.usage, "is no team", "a team's name has 32 letters; coffer app keygen prints it with the key"),
    "manifestIdentifier": .init(.usage, "the manifest: no identifier of an app", manifest),
    "manifestName": .init(.usage, "the manifest: no display name", manifest),
    "manifestVersion": .init(.usage, "the manifest: no version; they count from 1", manifest),
    "manifestExecutable": .init(.usage, "the manifest: its executables", manifest),
    "manifestGroup": .init(.usage, "the manifest: a group that the team cannot give", manifest),
    "manifestTeam": .init(
      .integrity, "the manifest and its key are of different teams", "get it again from the team, or sign it with the team's key"),
    "manifestForged": .init(
      .integrity, "the signature does not fit the manifest",
      "it was changed after it was signed; get it again from the team, or sign it anew"),
    "accessRuleMalformed": .init(
      .integrity, "what the vault knows of an app is damaged", "coffer vault verify lists what is wrong"),
    "appDowngrade": .init(
      .denied, "a later version has been installed here", "install that one or a later one; no option overrides this"),
    "appNotInstalled": .init(.notFound, "no such app is installed", "coffer app list shows the apps there are"),
    "missingEntitlement": .init(
      .denied, "has no right to this group", "the group must be in the app's manifest, or the owner grants it: coffer app grant"),
  ]
}
