extension VaultError.Code {
  // Memory
  /// Locked memory could not be had (`RLIMIT_MEMLOCK`), and the policy requires it.
  public static let memoryNotLockable = Self("memoryNotLockable")
  public static let outOfMemory = Self("outOfMemory")
  /// libsodium did not start: no source of random bytes.
  public static let randomNotAvailable = Self("randomNotAvailable")

  // Container
  public static let vaultExists = Self("vaultExists")
  public static let notAVault = Self("notAVault")
  public static let newerFormat = Self("newerFormat")
  public static let unknownIncompatibleFlag = Self("unknownIncompatibleFlag")
  /// The vault may be read, but not written, by this version.
  public static let unknownReadOnlyFlag = Self("unknownReadOnlyFlag")
  public static let headerMalformed = Self("headerMalformed")
  public static let headerForged = Self("headerForged")

  // Slots
  public static let slotMalformed = Self("slotMalformed")
  public static let unknownSlotType = Self("unknownSlotType")
  public static let kdfBelowFloor = Self("kdfBelowFloor")
  public static let kdfAboveCeiling = Self("kdfAboveCeiling")
  public static let slotDamaged = Self("slotDamaged")
  public static let slotsForged = Self("slotsForged")
  /// No slot opens with what was given: a wrong passphrase, key file or recovery key.
  public static let wrongCredential = Self("wrongCredential")
  /// No slot of the kind that was given.
  public static let noSuchSlot = Self("noSuchSlot")
  public static let lastSlot = Self("lastSlot")
  public static let slotsFull = Self("slotsFull")

  // Tree
  public static let nodeMissing = Self("nodeMissing")
  public static let nodeMalformed = Self("nodeMalformed")
  public static let nodeForged = Self("nodeForged")
  public static let nodeUnlisted = Self("nodeUnlisted")
  public static let countMismatch = Self("countMismatch")
  public static let vaultFull = Self("vaultFull")

  // Records
  /// A column of another type or length than the format says.
  public static let columnMismatch = Self("columnMismatch")
  public static let recordMissing = Self("recordMissing")
  public static let recordMalformed = Self("recordMalformed")
  public static let recordForged = Self("recordForged")
  public static let recordUnlisted = Self("recordUnlisted")
  public static let sealBroken = Self("sealBroken")
  public static let paddingNotCanonical = Self("paddingNotCanonical")
  public static let attributesMalformed = Self("attributesMalformed")
  public static let groupMalformed = Self("groupMalformed")
  public static let identifierMismatch = Self("identifierMismatch")
  public static let unknownGroup = Self("unknownGroup")

  /// Whether it is a fault of one record, which leaves the others as they are.
  public var concernsOneRecord: Bool {
    let codes: [Self] = [
      .columnMismatch, .recordMissing, .recordMalformed, .recordForged, .sealBroken, .paddingNotCanonical, .attributesMalformed,
      .groupMalformed, .identifierMismatch, .unknownGroup, .accessRuleMalformed,
    ]
    return codes.contains(self)
  }

  // Anchor
  public static let anchorOtherVault = Self("anchorOtherVault")
  public static let anchorDamaged = Self("anchorDamaged")
  public static let rolledBack = Self("rolledBack")
  public static let forked = Self("forked")

  // What was asked for
  /// The vault was locked, and what this takes was forgotten then.
  public static let locked = Self("locked")
  public static let notFound = Self("notFound")
  public static let duplicate = Self("duplicate")
  public static let groupNotFound = Self("groupNotFound")
  public static let groupExists = Self("groupExists")
  public static let secretTooLarge = Self("secretTooLarge")
  public static let attributeNotAllowed = Self("attributeNotAllowed")
  public static let nameNotAllowed = Self("nameNotAllowed")
  public static let nameTooLong = Self("nameTooLong")
  public static let passphraseNotText = Self("passphraseNotText")
  public static let passphraseLength = Self("passphraseLength")
  public static let keyFileLength = Self("keyFileLength")
  public static let recoveryKeyMalformed = Self("recoveryKeyMalformed")
  public static let deviceKeyMissing = Self("deviceKeyMissing")
  /// The item was sealed on another device.
  public static let wrongDeviceKey = Self("wrongDeviceKey")
  /// A `whenPasscodeSetThisDevice` item needs a passphrase slot.
  public static let passphraseSlotMissing = Self("passphraseSlotMissing")

  // Apps
  /// No name, or no key, of a team.
  public static let teamMalformed = Self("teamMalformed")
  public static let manifestIdentifier = Self("manifestIdentifier")
  public static let manifestName = Self("manifestName")
  public static let manifestVersion = Self("manifestVersion")
  public static let manifestExecutable = Self("manifestExecutable")
  public static let manifestGroup = Self("manifestGroup")
  /// The key is not that of the team that the manifest names.
  public static let manifestTeam = Self("manifestTeam")
  /// The signature does not fit.
  public static let manifestForged = Self("manifestForged")
  public static let accessRuleMalformed = Self("accessRuleMalformed")
  /// A higher version was installed once.
  public static let appDowngrade = Self("appDowngrade")
  public static let appNotInstalled = Self("appNotInstalled")
  /// A group that the caller does not hold, or a right that it has not.
  public static let missingEntitlement = Self("missingEntitlement")
}
