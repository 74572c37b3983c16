internal import AccessRights
package import CofferConsole
package import SecretMemory
internal import VaultCore
internal import VaultUpkeep

extension VaultError: Explained {
  package var explanation: Explanation { VaultExplanations.all[code] ?? Explanation(.other, code.name) }
}

/// The codes of `VaultError` are open: `AccessRights` adds some. A test holds the tables against those that are declared.
package enum VaultExplanations {
  package static let all = core.merging(apps) { entry, _ in entry }

  private static let core: [VaultError.Code: Explanation] = [
    .memoryNotLockable: .init(
      .other, "the memory for secrets cannot be locked",
      "raise the limit (ulimit -l), or accept that it may be swapped out: --allow-swap"),
    .outOfMemory: .init(.other, "out of memory"),
    .randomNotAvailable: .init(.other, "the system gives no random bytes"),

    .notAVault: .init(
      .integrity, "is not a vault",
      "name another file with --vault; if this was one, a backup takes its place: coffer vault restore"),
    .newerFormat: .init(.other, "has a format this version does not know", Hints.upgradeOrRestore),
    .unknownIncompatibleFlag: .init(.other, "uses a feature this version does not know", Hints.upgradeOrRestore),
    .unknownReadOnlyFlag: .init(.other, "can be read, but not written, by this version", Hints.upgradeOrExport),
    .headerMalformed: .init(.integrity, "the header is damaged", Hints.backup),
    .headerForged: .init(.integrity, "the header has been changed by something that has no key", Hints.backup),

    .slotMalformed: .init(.integrity, "a key slot is damaged", Hints.backup),
    .unknownSlotType: .init(.other, "has a kind of key slot this version does not know", Hints.upgrade),
    .kdfBelowFloor: .init(
      .integrity, "the passphrase would be too cheap to guess", "the file has been weakened; " + Hints.backup),
    .kdfAboveCeiling: .init(
      .other, "unlocking would take more time or memory than allowed", "if the vault is yours: --allow-expensive-kdf"),
    .slotDamaged: .init(.integrity, "a key slot is damaged", "try another way in, such as --recovery-key"),
    .slotsForged: .init(.integrity, "the key slots have been changed by something that has no key", Hints.backup),
    .wrongCredential: .init(
      .wrongPassphrase, "wrong passphrase, key file or recovery key", "coffer vault slot list shows which ways in there are"),
    .noSuchSlot: .init(.locked, "does not open in this way", "coffer vault slot list shows which ways in there are"),
    .lastSlot: .init(.usage, "the last way in cannot be removed", "add another one first: coffer vault slot add"),
    .slotsFull: .init(.usage, "all eight key slots are in use", "remove one: coffer vault slot remove"),

    .nodeMissing: .init(.integrity, "a part of the index is missing", Hints.damage),
    .nodeMalformed: .init(.integrity, "a part of the index is damaged", Hints.damage),
    .nodeForged: .init(.integrity, "a part of the index has been changed by something that has no key", Hints.damage),
    .nodeUnlisted: .init(.integrity, "the index holds a part that nothing refers to", Hints.damage),
    .countMismatch: .init(.integrity, "the number of items is not what it should be", Hints.damage),
    .vaultFull: .init(
      .inputOutput, "the vault is full",
      "remove items: coffer secret rm; if that makes no room, take them to a new vault: coffer secret export --to FILE"),

    .recordMissing: .init(.integrity, "an item is missing that should be there", Hints.damage),
    .recordMalformed: .init(.integrity, "an item is damaged", Hints.damage),
    .recordForged: .init(.integrity, "an item has been changed by something that has no key", Hints.damage),
    .recordUnlisted: .init(.integrity, "holds an item that the index does not know", Hints.damage),
    .columnMismatch: .init(.integrity, "a row of the file has another form than the format says", Hints.damage),
    .sealBroken: .init(.integrity, "the seal of an item is broken", Hints.damage),
    .paddingNotCanonical: .init(.integrity, "an item is damaged", Hints.damage),
    .attributesMalformed: .init(.integrity, "the attributes of an item are damaged", Hints.damage),
    .groupMalformed: .init(.integrity, "a group is damaged", Hints.damage),
    .identifierMismatch: .init(.integrity, "an item lies in another one's place", Hints.damage),
    .unknownGroup: .init(.integrity, "an item belongs to a group that is not there", Hints.damage),

    .anchorOtherVault: .init(
      .integrity, "is another vault than the one that was here before", "if you have put it there: coffer vault accept-rollback"),
    .anchorDamaged: .init(
      .integrity, "the record of its last state is damaged", "if you trust the vault as it is: coffer vault accept-rollback"),
    .anchorOtherKeys: .init(
      .integrity,
      "has other keys than the state last seen here: it is from before they were renewed, or they were renewed elsewhere",
      "a vault from before opens with what opened it then, a leaked passphrase too: put a later backup in its place, coffer vault "
        + "restore; only if you know that no keys were renewed, or that another machine did it, or want those of before: coffer vault accept-rollback"
    ),
    .rolledBack: .init(
      .integrity, "is an older state than the one last seen here",
      "if you have restored a backup: coffer vault accept-rollback; if a copy of its log ends with .kept: coffer-vault(1), CAVEATS"
    ),
    .forked: .init(
      .integrity, "has another history than the one last seen here", "if you have restored a copy: coffer vault accept-rollback"),

    .vaultExists: .init(.duplicate, "there is a vault already", "to see what it is: coffer vault status"),

    .locked: .init(.locked, "is locked", "coffer vault unlock"),
    .historyMissing: .init(.integrity, "a former version is missing that should be there", Hints.damage),
    .historyUnlisted: .init(
      .integrity, "holds a former version that no item names",
      "coffer vault repair gives it back to its item; if the item is gone: coffer secret purge --expired"),
    .policyMalformed: .init(.integrity, "the policy of the vault is damaged", Hints.damage),
    .masterKeyChanged: .init(
      .locked, "the master key was changed, and the keys here were forgotten",
      "run the command again; if an agent had the vault open: coffer vault unlock"),
    .rotationBlocked: .init(
      .integrity, "holds a record that this version cannot seal under a new master key",
      Hints.upgradeOrExport),
    .versionNotFound: .init(.notFound, "the item has no such version", "coffer secret history NAME lists them"),
    .limitOutOfRange: .init(.usage, "the limit cannot have this value"),
    .notFound: .init(.notFound, "no such item", "coffer secret list shows the items there are"),
    .duplicate: .init(.duplicate, "there is such an item already", "to replace its secret: coffer secret set --update"),
    .groupNotFound: .init(.notFound, "no such group", "to make it: coffer group create GROUP"),
    .groupExists: .init(.duplicate, "there is such a group already"),
    .repairFromOtherVault: .init(
      .integrity, "the backup is of another vault, or of another master key", "name an earlier backup of this vault"),
    .repairFromNewer: .init(
      .integrity, "the backup is newer than the vault", "coffer vault restore FILE puts it in the place of the vault"),
    .repairPlanOutdated: .init(.inputOutput, "has been changed since the list was made; nothing was repaired", "try again"),
    .nothingKept: .init(
      .locked, "nothing of it can be kept, and it was not removed", "to remove it for good: coffer secret rm NAME --force"),
    .groupRequired: .init(
      .usage, "every vault has this group", "its items can be moved or removed: coffer secret move, coffer secret rm"),
    .groupNotEmpty: .init(
      .other, "has items, or former versions of items", "to remove them too: coffer group rm GROUP --with-items"),
    .groupGranted: .init(
      .other, "is granted to programs: coffer access list GROUP",
      "to take the grants back too: coffer group rm GROUP --with-items"),
    .groupChanged: .init(.inputOutput, "was changed after it was shown; nothing has been removed", "try again"),
    .groupOfTeam: .init(
      .denied, "its name begins with that of a team, whose apps own it",
      "coffer app install makes it, and it can be removed after coffer app forget has forgotten the team's last app"),
    .secretTooLarge: .init(
      .usage, "too large: a secret has at most 1 MiB", "keep the file encrypted elsewhere, and its key here"),
    .attributeNotAllowed: .init(.usage, "an attribute is not allowed here"),
    .nameNotAllowed: .init(.usage, "a name is not allowed", "names are text without control characters"),
    .nameTooLong: .init(.usage, "a name is too long", "a name has at most 1024 bytes"),
    .passphraseNotText: .init(
      .usage, "the passphrase is not valid UTF-8", "bytes that are not text can be a key file: --key-file"),
    .passphraseLength: .init(.usage, "the passphrase is too long", "a passphrase has 1 to 4096 bytes"),
    .keyFileLength: .init(
      .usage, "a key file has 32 bytes to 1 MiB", "to make one: head -c 32 /dev/urandom >FILE, readable by you alone"),
    .recoveryKeyMalformed: .init(.wrongPassphrase, "the recovery key is mistyped", "compare it with what you have written down"),
    .deviceKeyMissing: .init(
      .locked, "the key of this device is missing",
      "items of this device only cannot be read elsewhere; put its file, device-VAULT.key, back: coffer(1), FILES"),
    .wrongDeviceKey: .init(
      .locked, "was sealed on another device", "items of this device only cannot be read elsewhere; coffer secret rm removes one"),
    .passphraseSlotMissing: .init(
      .usage, "the vault has no passphrase, which such an item needs", "add one: coffer vault slot add --new-passphrase"),
  ]

  /// Teams, manifests and rights.
  private static let apps: [VaultError.Code: Explanation] = [
    .teamMalformed: .init(.usage, "is not a team", "a team's name has 32 letters; coffer app keygen prints it with the key"),
    .manifestIdentifier: .init(.usage, "the manifest: no identifier of an app", Hints.manifest),
    .manifestName: .init(.usage, "the manifest: no display name", Hints.manifest),
    .manifestVersion: .init(.usage, "the manifest: no version; they count from 1", Hints.manifest),
    .manifestExecutable: .init(.usage, "the manifest: its executables", Hints.manifest),
    .manifestGroup: .init(.usage, "the manifest: a group that the team cannot give", Hints.manifest),
    .manifestTeam: .init(
      .integrity, "the manifest and its key are of different teams", "get it again from the team, or sign it with the team's key"),
    .manifestForged: .init(
      .integrity, "the signature does not fit the manifest",
      "it was changed after it was signed; get it again from the team, or sign it anew"),
    .accessRuleMalformed: .init(
      .integrity, "the vault's record of an app is damaged", Hints.damage),
    .appDowngrade: .init(
      .denied, "a later version has been installed here", "install that one or a later one; no option overrides this"),
    .appNotInstalled: .init(.notFound, "no such app is installed", "coffer app list shows the apps there are"),
    .missingEntitlement: .init(
      .denied, "has no right to this group", "the group must be in the app's manifest, or the owner grants it: coffer app grant"),
  ]
}
