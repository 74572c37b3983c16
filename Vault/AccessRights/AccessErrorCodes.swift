public import SecretMemory

extension VaultError.Code {
  /// The display name in a manifest breaks a rule.
  public static let manifestName = Self("manifestName")
  /// The version in a manifest breaks a rule.
  public static let manifestVersion = Self("manifestVersion")
  /// An executable in a manifest breaks a rule.
  public static let manifestExecutable = Self("manifestExecutable")
  /// A group in a manifest breaks a rule.
  public static let manifestGroup = Self("manifestGroup")
  /// The key is not that of the team that the manifest names.
  public static let manifestTeam = Self("manifestTeam")
  /// The signature does not fit.
  public static let manifestForged = Self("manifestForged")
  /// A higher version was installed once.
  public static let appDowngrade = Self("appDowngrade")
  /// The app is not installed in this vault.
  public static let appNotInstalled = Self("appNotInstalled")
  /// A group that the caller does not hold, or a right that it has not.
  public static let missingEntitlement = Self("missingEntitlement")
}
