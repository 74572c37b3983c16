/// Hints of several errors.
package enum Hints {
  package static let backup = "to put a backup in its place: coffer vault restore; the damaged file is kept"
  package static let damage = "coffer vault verify lists everything that is wrong; coffer vault repair keeps what is sound"
  package static let upgrade = "a newer version of coffer has written it; update coffer"
  /// For what one damaged byte looks like as well.
  package static let upgradeOrRestore = upgrade + "; a damaged file is to be moved away, and a backup restored"
  /// For what a holder of a leaked passphrase can write as well.
  package static let upgradeOrExport = upgrade + "; a new vault of the items goes without it: coffer secret export --to FILE"
  package static let manifest = "mend the manifest and sign it again: coffer app lint FILE checks it"
}
