package import CofferConsole
package import CofferSync
package import VaultSync

extension SyncError: Explained {
  package var explanation: Explanation {
    switch code {
    case .noSpace where !detail.isEmpty:
      .init(.notFound, "this vault is not in this space", "coffer sync status shows the spaces")
    case .noSpace:
      .init(.notFound, "this vault is in no space", "to make one: coffer sync init ENGINE; to join one: coffer sync join ENGINE")
    case .severalSpaces: .init(.severalMatch, "this vault is in several spaces", "name one: --space ID")
    case .keysMalformed:
      .init(.integrity, "the keys of this device have another form", "coffer secret history has the former ones")
    case .keysUnavailable:
      .init(
        .integrity, "the keys of this device do not open: the vault is of before coffer vault rotate --device-key, or a copy",
        "put the vault back that coffer vault restore has kept; or coffer sync join, and remove the former device; or forget the space: "
          + "coffer sync leave --force --space ID")
    case .deviceAlready:
      .init(
        .duplicate, "this vault is a device of this space already", "coffer sync status; to join anew: coffer sync leave first")
    case .otherCommand:
      .init(
        .inputOutput, "another coffer sync is at work in this space",
        "try again; coffer sync status tells whether the engine answers")
    case .stateMissing:
      .init(
        .notFound, "the files of this device are missing",
        "coffer sync leave --force; then join again, and remove this device by its former identifier")
    case .stateMalformed:
      .init(
        .integrity, "the files of this device are damaged, or of another vault",
        "coffer sync leave --force; then join again, and remove this device by its former identifier")
    case .addressMalformed:
      .init(.usage, "this is not the address of a log", "dir:/PATH or ssh:HOST:/PATH, from the root; etcd:HOST:PORT")
    case .groupNotShared: .init(.usage, "the group is never shared", "groups that begin with coffer. are of this device alone")
    case .groupInOtherSpace: .init(.duplicate, "is shared in another space", "coffer sync unshare GROUP --space ID")
    case .personalElsewhere:
      .init(.duplicate, "this vault has a personal space already", "to leave it: coffer sync leave --space ID")
    case .notPersonal:
      .init(
        .usage, "settings are shared in a personal space alone, and this space is not personal",
        "coffer sync init ENGINE --personal")
    case .noDevice: .init(.notFound, "no device and no person of the space has this name", "coffer sync members lists them")
    case .severalDevices: .init(.severalMatch, "several devices have this name", "name one by its identifier")
    case .notAllowed: .init(.denied, "the role of this device does not allow it", "an owner can do it")
    case .ownDevice:
      .init(.usage, "a device does not remove itself", "on another device; or leave the space: coffer sync leave")
    case .lastOwner: .init(.usage, "no owner would be left", "coffer sync role DEVICE owner gives the role to another one")
    case .lastLivingOwner:
      .init(
        .denied, "no owner but a recovery key would be left", "coffer sync role DEVICE owner first; or all the same: --force")
    case .noAnswer: .init(.inputOutput, "the other device has not answered in 10 minutes", "begin again: coffer sync join")
    case .codeTaken:
      .init(
        .duplicate, "this code is used up: an earlier coffer sync add has answered, or another device",
        "begin again on the new device: coffer sync join")
    case .joinEnded:
      .init(.notFound, "the other device has ended its join", "begin again there: coffer sync join")
    case .exchangeRefused:
      .init(
        .integrity, "the messages are not those of one exchange: another program may be between the two",
        "begin again: coffer sync join")
    case .exchangeEnded:
      .init(
        .denied, "the other device has not added this one: a wrong number, no right to, or it was ended",
        "begin again: coffer sync join")
    case .wrongNumber:
      .init(.denied, "the number is another one: nothing has been added", "begin again on the new device: coffer sync join")
    case .changesPending:
      .init(.denied, "no other device has them yet", "coffer sync now; or lose them for the others: --force")
    case .erased:
      .init(.denied, "this device was removed from the space, and the items of the space with it, by one that asked for that")
    case .recoveryKeyMalformed:
      .init(
        .usage, "this is not the recovery key of a space",
        "8 groups of 7 letters and digits, as coffer sync recovery-key printed it")
    case .recoveryKeyUnknown:
      .init(.denied, "this recovery key is none of the space: it was removed, or never added", "coffer sync members lists them")
    }
  }
}

extension Halt: Explained {
  package var detail: String { "" }

  package var explanation: Explanation {
    switch self {
    case .forked:
      .init(
        .integrity, "a member has continued another log than this device: the engine shows two",
        "compare with other devices: coffer sync check; then coffer sync accept-history")
    case .replaced:
      .init(
        .integrity, "the engine has another log than the one that this device has read",
        "compare with other devices: coffer sync check; then coffer sync accept-history")
    case .checkpointFalse:
      .init(.integrity, "a checkpoint of the log has another state than this device", "coffer sync accept-history reads all anew")
    case .keyWithheld:
      .init(
        .integrity, "the member that has added this device has given it a wrong key",
        "coffer sync leave --force; then join again with another member, which removes this device")
    case .keyMissing: .init(.integrity, "no key of this device opens the log", "join the space anew: coffer sync leave")
    case .removed:
      .init(.denied, "this device was removed from the space", "its items stay; to forget the space: coffer sync leave --force")
    case .notAMember: .init(.denied, "this device is not a member of the space", "to forget the space: coffer sync leave --force")
    case .objectMissing:
      .init(
        .inputOutput, "the engine lacks a large value that the log names", "try again later; a backup of the engine may have it")
    case .entriesMissing:
      .init(
        .inputOutput, "the engine lacks entries of the log",
        "a device that is ahead puts them back, at once by coffer sync check; if none has them any more: "
          + "coffer sync accept-history")
    }
  }
}

extension StoredReplicaError: Explained {
  package var detail: String { "" }

  package var explanation: Explanation {
    switch self {
    case .malformed: SyncError(.stateMalformed).explanation
    case .otherDevice: .init(.integrity, "the files are those of another device", "the vault or the files were copied")
    case .objectMissing:
      .init(
        .integrity, "a large value that no other device has is missing in the files of this device",
        "it is in the vault: coffer sync leave --force; then join again, and remove this device by its former identifier")
    }
  }
}

extension VoidCause: Explained {
  package var detail: String { "" }

  package var explanation: Explanation { .init(.integrity, "has a form that items do not have (\(rawValue))") }
}
