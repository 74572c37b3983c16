public import SecretMemory

extension VaultError.Code {
  /// Nothing of an item that is to be removed can be kept, so that it could not be restored.
  public static let nothingKept = Self("nothingKept")
  /// The backup is of another vault, or of another master key.
  public static let repairFromOtherVault = Self("repairFromOtherVault")
  /// The backup is newer than the vault.
  public static let repairFromNewer = Self("repairFromNewer")
  /// The vault has changed since the plan was made.
  public static let repairPlanOutdated = Self("repairPlanOutdated")
  /// Every vault has the group `default`, under this name.
  public static let groupRequired = Self("groupRequired")
  /// The group still has items or former versions of items.
  public static let groupNotEmpty = Self("groupNotEmpty")
  /// Something in the group is granted to a program.
  public static let groupGranted = Self("groupGranted")
  /// Something was added to the group, or changed in it, since the owner has seen it.
  public static let groupChanged = Self("groupChanged")
  /// The group's name begins with the name of a team.
  public static let groupOfTeam = Self("groupOfTeam")
}
