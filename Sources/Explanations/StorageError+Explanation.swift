package import CofferConsole
internal import CofferStorage

extension StorageError: Explained {
  package var explanation: Explanation {
    switch code {
    case .noVault:
      .init(
        .noVault, "no vault here", "to make one: coffer init; from a backup: coffer vault restore; to name another: --vault PATH")
    case .logWithoutVault:
      .init(
        .integrity, "the vault's file is missing, and a file with its latest changes is here",
        "put the file back; or a backup in its place: coffer vault restore; to begin anew, move the other file away")
    case .vaultExists: .init(.duplicate, "there is a vault already", "to see what it is: coffer vault status")
    case .notAVault:
      .init(
        .integrity, "is not a vault",
        "name another file with --vault; if this was one, a backup takes its place: coffer vault restore")
    case .notAFile:
      .init(
        .inputOutput, "something that is not a file has the name of one of its own",
        "the vault itself is not touched: remove that, or move it away")
    case .newerFormat:
      .init(.other, "has a format this version does not know", Hints.upgradeOrRestore)
    case .migrationNeeded:
      .init(.other, "has a format of before", "to convert it, with all its items: coffer vault migrate")
    case .schemaAltered: .init(.integrity, "the tables of the file have been changed", Hints.backup)
    case .columnMismatch: .init(.integrity, "a row of the file has another form than the format says", Hints.damage)
    case .storageDamaged: .init(.integrity, "the file is damaged", Hints.backup)
    case .busy: .init(.inputOutput, "another process is writing", "try again")
    case .maintenance:
      .init(
        .inputOutput, "maintenance under way", "another coffer vault restore, migrate, rotate or repair must end first")
    case .full: .init(.inputOutput, "no room on the disk", "make room and try again")
    case .readOnly:
      .init(
        .inputOutput, "is read-only",
        "name another place; to go on with the vault elsewhere: coffer vault backup - >FILE; coffer vault restore FILE --vault NEW; "
          + "if the directories of your home cannot be written either, COFFER_HOME names another one"
      )
    case .inDoubt:
      .init(
        .inputOutput, "it is not known whether the change was made",
        "look before you try again: coffer secret list, coffer vault verify")
    case .io: .init(.inputOutput, "reading or writing failed")
    case .outOfMemory: .init(.other, "out of memory")
    case .descriptorsExhausted: .init(.inputOutput, "too many open files", "raise the limit: ulimit -n")
    case .replaced:
      .init(
        .inputOutput, "a file of the vault was removed or replaced while it was open",
        "end the programs that have it open, an agent with coffer agent stop, that of the system with systemctl stop cofferd@UID.service as "
          + "root; then try again")
    case .truncated:
      .init(
        .integrity, "the file was emptied, cut or overwritten while it was in use",
        "put a backup in its place: coffer vault restore; keep the copy of the log until you have what it held")
    case .wrongLength: .init(.integrity, "has another length than it must have", "restore it from a backup")
    case .tooLarge: .init(.integrity, "is larger than 64 GiB", "name a backup; this file is none that coffer has made")
    case .accessDenied:
      .init(
        .inputOutput, "you may not read or write it", "you need the rights yourself: chmod 600 the file, chmod 700 its directory")
    case .relativePath: .init(.usage, "COFFER_HOME must be an absolute path")
    case .noHome: .init(.usage, "the home directory is not known", "set HOME or COFFER_HOME, or name a file with --vault")
    case .symbolicLink: .init(.inputOutput, "is a symbolic link", "name the file itself with --vault")
    case .hardLink:
      .init(
        .inputOutput, "is one file under two names", "a hard link is not a copy: put a copy in the place of one of them")
    case .foreignOwner: .init(.inputOutput, "belongs to another user", "a vault and its directory must belong to you")
    case .permissionsTooOpen: .init(.inputOutput, "others may read or write it", "chmod 600 the file, chmod 700 its directory")
    }
  }
}
