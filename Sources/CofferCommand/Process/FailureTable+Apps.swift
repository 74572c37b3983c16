package import CofferConsole

extension FailureTable {
  private static let manifest = "mend the manifest and sign it again: coffer app lint FILE says whether it will do"

  /// Errors of the module VaultCore that concern teams, manifests and rights.
  static let apps: [String: Explanation] = [
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

  /// Errors of the module Apps.
  package static let applications: [String: Explanation] = [
    "manifestUnreadable": .init(.usage, "is no manifest", "a manifest is a property list: see coffer-app(1)"),
    "manifestField": .init(.usage, "the manifest", manifest),
    "manifestNotSigned": .init(.usage, "the manifest is not signed", "sign it: coffer app sign FILE --key KEY"),
    "executableMissing": .init(
      .notFound, "an executable is missing", "paths are relative to the manifest, or to the directory that --from names"),
    "executableUnknown": .init(.notFound, "the app has no such executable", "--executable names one of those in the manifest"),
    "executableChanged": .init(
      .integrity, "an executable is not the one that was signed", "get the app again from its team, or sign it anew"),
    "sameVersionDiffers": .init(
      .denied, "is installed in this version, with another content", "another content needs a higher version"),
    "bundleDamaged": .init(.integrity, "its files are damaged", "install it again: coffer app install"),
    "appInstalled": .init(.denied, "is installed", "remove it first: coffer app remove"),
    "appUnknown": .init(.notFound, "the vault knows no such app", "coffer app list shows the apps there are"),
    "severalApps": .init(.severalMatch, "apps of several teams have this identifier", "name one of them in full"),
  ]
}
