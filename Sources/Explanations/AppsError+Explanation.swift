internal import CofferApps
package import CofferConsole

extension AppsError: Explained {
  package var explanation: Explanation {
    switch code {
    case .manifestUnreadable: .init(.usage, "is not a manifest", "a manifest is a property list: see coffer-app(1)")
    case .manifestField: .init(.usage, "the manifest", Hints.manifest)
    case .manifestNotSigned: .init(.usage, "the manifest is not signed", "sign it: coffer app sign FILE --key KEY")
    case .executableMissing:
      .init(
        .notFound, "an executable is missing", "paths are relative to the manifest, or to the directory that --from names")
    case .executableUnknown: .init(.notFound, "the app has no such executable", "--executable names one of those in the manifest")
    case .executableChanged:
      .init(
        .integrity, "an executable is not the one that was signed", "get the app again from its team, or sign it anew")
    case .sameVersionDiffers:
      .init(
        .denied, "is installed in this version, with another content", "another content needs a higher version")
    case .bundleDamaged: .init(.integrity, "its files are damaged", "install it again: coffer app install")
    case .appInstalled: .init(.denied, "is installed", "remove it first: coffer app remove")
    case .appUnknown: .init(.notFound, "is not an app in the vault", "coffer app list shows the apps there are")
    case .severalApps: .init(.severalMatch, "apps of several teams have this identifier", "name one of them in full")
    case .damagedRecordsStay:
      .init(.integrity, "removed, but for damaged records of the vault, which may be its items", Hints.damage)
    }
  }
}
