package import CofferConsole

extension FailureTable {
  private static let backup = "restore a backup; the damaged file stays as it is until you replace it"
  private static let verify = "coffer vault verify lists everything that is wrong"
  private static let upgrade = "a newer version of coffer has written it; update coffer"

  /// Errors of the module VaultCore.
  package static let vault: [String: Explanation] = [
    "memoryNotLockable": .init(
      .other, "the memory for secrets cannot be locked",
      "raise the limit (ulimit -l), or accept that it may be swapped out: --allow-swap"),
    "outOfMemory": .init(.other, "out of memory"),
    "randomNotAvailable": .init(.other, "the system gives no random bytes"),

    "notAVault": .init(.integrity, "is no vault", "name another file with --vault"),
    "newerFormat": .init(.other, "has a format this version does not know", upgrade),
    "unknownIncompatibleFlag": .init(.other, "uses a feature this version does not know", upgrade),
    "unknownReadOnlyFlag": .init(.other, "can be read, but not written, by this version", upgrade),
    "headerMalformed": .init(.integrity, "the header is damaged", backup),
    "headerForged": .init(.integrity, "the header has been changed by something that has no key", backup),

    "slotMalformed": .init(.integrity, "a key slot is damaged", backup),
    "unknownSlotType": .init(.other, "has a kind of key slot this version does not know", upgrade),
    "kdfBelowFloor": .init(
      .integrity, "the passphrase would be too cheap to guess", "somebody has weakened the file; " + backup),
    "kdfAboveCeiling": .init(
      .other, "unlocking would take more time or memory than allowed", "if the vault is yours: --allow-expensive-kdf"),
    "slotDamaged": .init(.integrity, "a key slot is damaged", "try another way in, such as --recovery-key"),
    "slotsForged": .init(.integrity, "the key slots have been changed by something that has no key", backup),
    "wrongCredential": .init(
      .wrongPassphrase, "wrong passphrase, key file or recovery key", "coffer vault slot list shows which ways in there are"),
    "noSuchSlot": .init(.locked, "does not open in this way", "coffer vault slot list shows which ways in there are"),
    "lastSlot": .init(.usage, "the last way in cannot be removed", "add another one first: coffer vault slot add"),
    "slotsFull": .init(.usage, "all eight key slots are in use", "remove one: coffer vault slot remove"),

    "nodeMissing": .init(.integrity, "a part of the index is missing", verify),
    "nodeMalformed": .init(.integrity, "a part of the index is damaged", verify),
    "nodeForged": .init(.integrity, "a part of the index has been changed by something that has no key", verify),
    "nodeUnlisted": .init(.integrity, "the index holds a part that nothing refers to", verify),
    "countMismatch": .init(.integrity, "the number of items is not what it should be", verify),
    "vaultFull": .init(.inputOutput, "the vault is full", "remove items: coffer secret rm"),

    "recordMissing": .init(.integrity, "an item is missing that should be there", verify),
    "recordMalformed": .init(.integrity, "an item is damaged", verify),
    "recordForged": .init(.integrity, "an item has been changed by something that has no key", verify),
    "recordUnlisted": .init(.integrity, "holds an item that the index does not know", verify),
    "columnMismatch": .init(.integrity, "a row of the file has another form than the format says", verify),
    "sealBroken": .init(.integrity, "the seal of an item is broken", verify),
    "paddingNotCanonical": .init(.integrity, "an item is damaged", verify),
    "attributesMalformed": .init(.integrity, "the attributes of an item are damaged", verify),
    "groupMalformed": .init(.integrity, "a group is damaged", verify),
    "identifierMismatch": .init(.integrity, "an item lies in another one's place", verify),
    "unknownGroup": .init(.integrity, "an item belongs to a group that is not there", verify),

    "anchorOtherVault": .init(
      .integrity, "is another vault than the one that was here before", "if you have put it there: coffer vault accept-rollback"),
    "anchorDamaged": .init(
      .integrity, "the record of its last state is damaged", "if you trust the vault as it is: coffer vault accept-rollback"),
    "rolledBack": .init(
      .integrity, "is an older state than the one last seen here",
      "if you have restored a backup: coffer vault accept-rollback; if a copy of its log ends with .kept: coffer-vault(1), CAVEATS"
    ),
    "forked": .init(
      .integrity, "has another history than the one last seen here", "if you have restored a copy: coffer vault accept-rollback"),

    "vaultExists": .init(.duplicate, "there is a vault already", "to see what it is: coffer vault status"),

    "locked": .init(.locked, "is locked", "coffer vault unlock"),
    "notFound": .init(.notFound, "no such item", "coffer secret list shows the items there are"),
    "duplicate": .init(.duplicate, "there is such an item already", "to replace its secret: coffer secret set --update"),
    "groupNotFound": .init(.notFound, "no such group", "to make it: coffer secret set --create-group"),
    "groupExists": .init(.duplicate, "there is such a group already"),
    "secretTooLarge": .init(
      .usage, "too large: a secret has at most 1 MiB", "keep the file encrypted elsewhere, and its key here"),
    "attributeNotAllowed": .init(.usage, "an attribute is not allowed here"),
    "nameNotAllowed": .init(.usage, "a name is not allowed", "names are text without control characters"),
    "nameTooLong": .init(.usage, "a name is too long", "a name has at most 1024 bytes"),
    "passphraseNotText": .init(
      .usage, "the passphrase is not valid UTF-8", "bytes that are no text can be a key file: --key-file"),
    "passphraseLength": .init(.usage, "the passphrase is too long", "a passphrase has 1 to 4096 bytes"),
    "keyFileLength": .init(
      .usage, "a key file has 32 bytes to 1 MiB", "to make one: head -c 32 /dev/urandom >FILE, readable by you alone"),
    "recoveryKeyMalformed": .init(.wrongPassphrase, "the recovery key is mistyped", "compare it with what you have written down"),
    "deviceKeyMissing": .init(
      .locked, "the key of this device is missing", "items of this device only cannot be read elsewhere; restore device.key here"),
    "wrongDeviceKey": .init(
      .locked, "was sealed on another device", "items of this device only cannot be read elsewhere; coffer secret rm removes one"),
    "passphraseSlotMissing": .init(
      .usage, "the vault has no passphrase, which such an item needs", "add one: coffer vault slot add --new-passphrase"),
  ].merging(apps) { entry, _ in entry }

  /// Errors of the module Storage.
  package static let storage: [String: Explanation] = [
    "noVault": .init(.noVault, "no vault here", "to make one: coffer vault init; to name another: --vault PATH"),
    "vaultExists": .init(.duplicate, "there is a vault already", "to see what it is: coffer vault status"),
    "notAVault": .init(.integrity, "is no vault", "name another file with --vault"),
    "newerFormat": .init(.other, "has a format this version does not know", upgrade),
    "draftFormat": .init(
      .other, "has the draft of the format, of before version 1.0", "to convert it, with all its items: coffer vault migrate"),
    "schemaAltered": .init(.integrity, "the tables of the file have been changed", backup),
    "columnMismatch": .init(.integrity, "a row of the file has another form than the format says", verify),
    "storageDamaged": .init(.integrity, "the file is damaged", backup),
    "busy": .init(.inputOutput, "another process is writing", "try again"),
    "full": .init(.inputOutput, "no room on the disk", "nothing has been changed; make room and try again"),
    "readOnly": .init(.inputOutput, "is read-only"),
    "inDoubt": .init(
      .inputOutput, "nobody can say whether the change was made",
      "look before you try again: coffer secret list, coffer vault verify"),
    "io": .init(.inputOutput, "reading or writing failed"),
    "outOfMemory": .init(.other, "out of memory"),
    "descriptorsExhausted": .init(.inputOutput, "too many open files", "raise the limit: ulimit -n"),
    "replaced": .init(
      .inputOutput, "a file of the vault was removed or replaced while it was open",
      "end what has it open, an agent with coffer vault lock; then coffer vault unlock"),
    "truncated": .init(
      .integrity, "the file was emptied, cut or overwritten while it was in use",
      "put a backup in its place; keep the copy of the log until you have what it held"),
    "wrongLength": .init(.integrity, "has another length than it must have", "restore it from a backup"),
    "accessDenied": .init(.inputOutput, "you may not read or write it"),
    "relativePath": .init(.usage, "COFFER_HOME must be an absolute path"),
    "noHome": .init(.usage, "there is no home directory", "set HOME or COFFER_HOME, or name a file with --vault"),
    "symbolicLink": .init(.inputOutput, "is a symbolic link", "name the file itself with --vault"),
    "hardLink": .init(
      .inputOutput, "is one file under two names", "a hard link is no copy: put a copy in the place of one of them"),
    "foreignOwner": .init(.inputOutput, "belongs to somebody else", "a vault and its directory must belong to you"),
    "permissionsTooOpen": .init(.inputOutput, "others may read or write it", "chmod 600 the file, chmod 700 its directory"),
  ]
}
