/// Hints of several errors.
enum Hints {
  static let backup = "to put a backup in its place: coffer vault restore; the damaged file is kept"
  static let damage = "coffer vault verify lists everything that is wrong; coffer vault repair keeps what is sound"
  static let upgrade = "a newer version of coffer has written it; update coffer"
  /// For what one damaged byte looks like as well.
  static let upgradeOrRestore = upgrade + "; a damaged file is to be moved away, and a backup restored"
  static let manifest = "mend the manifest and sign it again: coffer app lint FILE checks it"
}
