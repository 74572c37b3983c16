public import SecretMemory

extension VaultError.Code {
  // Container
  /// The store holds a vault already.
  public static let vaultExists = Self("vaultExists")
  /// The store holds no vault.
  public static let notAVault = Self("notAVault")
  /// The vault has a higher major version than this code.
  public static let newerFormat = Self("newerFormat")
  /// The vault uses a feature that this version does not know.
  public static let unknownIncompatibleFlag = Self("unknownIncompatibleFlag")
  /// The vault may be read, but not written, by this version.
  public static let unknownReadOnlyFlag = Self("unknownReadOnlyFlag")
  /// The header breaks a rule of the format.
  public static let headerMalformed = Self("headerMalformed")
  /// The MAC of the header is wrong.
  public static let headerForged = Self("headerForged")

  // Slots
  /// A slot breaks a rule of the format.
  public static let slotMalformed = Self("slotMalformed")
  /// A slot is of an unknown type.
  public static let unknownSlotType = Self("unknownSlotType")
  /// The key derivation of a slot is cheaper than the floor.
  public static let kdfBelowFloor = Self("kdfBelowFloor")
  /// The key derivation of a slot is costlier than the caller allows.
  public static let kdfAboveCeiling = Self("kdfAboveCeiling")
  /// The credential fits a slot, but the slot does not open.
  public static let slotDamaged = Self("slotDamaged")
  /// The slots are not those that the header proves.
  public static let slotsForged = Self("slotsForged")
  /// No slot opens with what was given: a wrong passphrase, key file or recovery key.
  public static let wrongCredential = Self("wrongCredential")
  /// No slot of the kind that was given.
  public static let noSuchSlot = Self("noSuchSlot")
  /// The last slot cannot be removed.
  public static let lastSlot = Self("lastSlot")
  /// The vault has as many slots as it may have.
  public static let slotsFull = Self("slotsFull")

  // Tree
  /// A node of the tree is missing.
  public static let nodeMissing = Self("nodeMissing")
  /// A node of the tree breaks a rule of the format.
  public static let nodeMalformed = Self("nodeMalformed")
  /// A node of the tree is not the one that its parent proves.
  public static let nodeForged = Self("nodeForged")
  /// A node of the tree is listed by no parent.
  public static let nodeUnlisted = Self("nodeUnlisted")
  /// The number of records is not the one in the header.
  public static let countMismatch = Self("countMismatch")
  /// The vault has as many records as it may have.
  public static let vaultFull = Self("vaultFull")

  // Records
  /// A column of another type or length than the format says.
  public static let columnMismatch = Self("columnMismatch")
  /// A record is missing.
  public static let recordMissing = Self("recordMissing")
  /// A record breaks a rule of the format.
  public static let recordMalformed = Self("recordMalformed")
  /// A record is not the one that the tree proves.
  public static let recordForged = Self("recordForged")
  /// A record is listed by no node.
  public static let recordUnlisted = Self("recordUnlisted")
  /// A sealed column does not open.
  public static let sealBroken = Self("sealBroken")
  /// The padding of a sealed column breaks a rule of the format.
  public static let paddingNotCanonical = Self("paddingNotCanonical")
  /// The attributes of an item break a rule of the format.
  public static let attributesMalformed = Self("attributesMalformed")
  /// The record of a group breaks a rule of the format.
  public static let groupMalformed = Self("groupMalformed")
  /// The identifier of a record is not that of its content.
  public static let identifierMismatch = Self("identifierMismatch")
  /// A record belongs to a group that has no record.
  public static let unknownGroup = Self("unknownGroup")

  /// A former version that an item names is missing.
  public static let historyMissing = Self("historyMissing")
  /// A former version that no item names.
  public static let historyUnlisted = Self("historyUnlisted")
  /// The record of a policy breaks a rule of the format.
  public static let policyMalformed = Self("policyMalformed")

  /// Whether it is a fault of one record, which leaves the others as they are.
  public var concernsOneRecord: Bool {
    let codes: [Self] = [
      .columnMismatch, .recordMissing, .recordMalformed, .recordForged, .sealBroken, .paddingNotCanonical, .attributesMalformed,
      .groupMalformed, .identifierMismatch, .unknownGroup, .accessRuleMalformed, .historyMissing, .historyUnlisted,
      .policyMalformed,
    ]
    return codes.contains(self)
  }

  // Anchor
  /// Another vault was opened at this path before.
  public static let anchorOtherVault = Self("anchorOtherVault")
  /// The anchor is damaged.
  public static let anchorDamaged = Self("anchorDamaged")
  /// The anchor was sealed with another master key: the vault is from before its renewal, or the anchor was changed.
  public static let anchorOtherKeys = Self("anchorOtherKeys")
  /// The vault is older than the anchored state.
  public static let rolledBack = Self("rolledBack")
  /// The vault has another history than the anchored state.
  public static let forked = Self("forked")

  // The request
  /// The vault has a new master key, and the keys here were wiped: it is to be opened again.
  public static let masterKeyChanged = Self("masterKeyChanged")
  /// The vault holds records that cannot be sealed under a new master key.
  public static let rotationBlocked = Self("rotationBlocked")
  /// The vault was locked, and the keys for this call were wiped then.
  public static let locked = Self("locked")
  /// The item does not exist.
  public static let notFound = Self("notFound")
  /// The item has no such version.
  public static let versionNotFound = Self("versionNotFound")
  /// A limit of the vault's policy outside the values that it may have.
  public static let limitOutOfRange = Self("limitOutOfRange")
  /// An item with these primary attributes exists already.
  public static let duplicate = Self("duplicate")
  /// The group does not exist.
  public static let groupNotFound = Self("groupNotFound")
  /// The group exists already.
  public static let groupExists = Self("groupExists")
  /// An attribute that the class does not have, or a value that it may not have.
  public static let attributeNotAllowed = Self("attributeNotAllowed")
  /// A name with characters that it may not have.
  public static let nameNotAllowed = Self("nameNotAllowed")
  /// A name that is too long.
  public static let nameTooLong = Self("nameTooLong")
  /// The passphrase is not UTF-8, or has code points that a new passphrase may not have.
  public static let passphraseNotText = Self("passphraseNotText")
  /// The passphrase is empty or too long.
  public static let passphraseLength = Self("passphraseLength")
  /// The key file is too short or too long.
  public static let keyFileLength = Self("keyFileLength")
  /// The text is not a recovery key.
  public static let recoveryKeyMalformed = Self("recoveryKeyMalformed")
  /// The operation needs the key of this device.
  public static let deviceKeyMissing = Self("deviceKeyMissing")
  /// The item was sealed on another device.
  public static let wrongDeviceKey = Self("wrongDeviceKey")
  /// A `whenPasscodeSetThisDevice` item needs a passphrase slot.
  public static let passphraseSlotMissing = Self("passphraseSlotMissing")

  // Access rules
  /// No name, or no key, of a team.
  public static let teamMalformed = Self("teamMalformed")
  /// The identifier in a manifest breaks a rule.
  public static let manifestIdentifier = Self("manifestIdentifier")
  /// The record of an app or a grant breaks a rule of the format.
  public static let accessRuleMalformed = Self("accessRuleMalformed")
}

extension VaultError {
  /// The same, with the record that it concerns in its detail.
  package func naming(_ record: Identifier) -> VaultError {
    guard !detail.hasPrefix("\(record)") else { return self }
    return VaultError(code, detail.isEmpty ? "\(record)" : "\(record): \(detail)")
  }
}
