import Testing

/// `coffer vault restore`, killed before its system calls, or with errors of the disk: the vault is the one before or that of the backup,
/// opens without a word about a rollback, and can be restored again.
@Suite struct RestoreKillTests {
  /// Directories with the states in which a vault may be found, and `old`, a backup of the vault of `key`.
  static let templates = """
    umask 077
    [ -e old ] || {
      head -c 32 /dev/urandom >key; head -c 32 /dev/urandom >other.key
      coffer vault init --key-file key --no-passphrase
      head -c 60000 /dev/zero | coffer secret set large --key-file key; printf x | coffer secret set gone --key-file key
      coffer vault backup old >said
      coffer secret rm gone --key-file key; printf x | coffer secret set present --key-file key; coffer secret list --key-file key >/dev/null
      cp -a coffer continuing
      cp -a coffer exchanging; dd if=/dev/urandom of=exchanging/vault.coffer bs=4096 seek=1 count=2 conv=notrunc status=none
      cp -a coffer logged; dd if=/dev/urandom of=logged/vault.coffer bs=4096 count=1 conv=notrunc status=none
      head -c 9000 /dev/urandom >logged/vault.coffer-wal
      rm -rf coffer; coffer vault init --key-file other.key --no-passphrase; printf x | coffer secret set present --key-file other.key
      coffer secret list --key-file other.key >/dev/null; mv coffer replacing
    }
    rm -rf coffer; cp -a $way coffer
    items() { coffer secret list --key-file $1 2>&1 | cut -f 1 | tr '\\n' ' '; }
    # The damaged file and its log, in one directory.
    pair() { cmp -s $way/vault.coffer $1/vault.coffer && { [ $way = exchanging ] || cmp -s $way/vault.coffer-wal $1/vault.coffer-wal; }; }
    """

  static let checking = """
    \(templates)
    $inject coffer vault restore old --force --other-vault --key-file key >said 2>&1
    status=$?
    [ $status = 137 ] || [ $status = 12 ] || [ $status = 0 ] || { echo "$call $when: ended with $status"; cat said; }
    after=; before=
    case "$(items key)" in
    "gone large ") after=yes;;
    "large present ") [ $way = continuing ] && before=yes;;
    *) case $way in
       replacing) [ "$(items other.key)" = "present " ] && before=yes;;
       exchanging|logged)
         # Without a vault the files of before are complete where they were put.
         if [ -e coffer/vault.coffer ]; then pair coffer && before=yes; else pair coffer/backups/damaged-* && before=yes; fi;;
       esac;;
    esac
    [ -n "$after$before" ] || { echo "$call $when: $way: neither the vault before nor that of the backup:"; items key; cat said; }
    [ $status = 0 ] && [ -z "$after" ] && echo "$call $when: done, and nothing has been restored"
    # Of a restore that has failed nothing takes room, unless it is not known whether it has.
    [ $status = 12 ] && [ -n "$before" ] && ! grep -q 'not known' said && ls coffer/backups 2>/dev/null | grep before-restore &&
      echo "$call $when: failed, and its copy of the vault stays"
    if [ -n "$after" ]; then
      kept=$(ls -d coffer/backups/* | head -1)
      case $way in
      exchanging|logged) pair "$kept" || echo "$call $when: the damaged file is gone";;
      continuing) coffer secret get present --vault "$kept" --key-file key >/dev/null 2>state.kept || {
        # It is older than what was seen, and nothing else.
        coffer vault verify --vault "$kept" --key-file key >/dev/null || echo "$call $when: no backup of the vault before"; };;
      replacing) coffer vault verify --vault "$kept" --key-file other.key >/dev/null || echo "$call $when: no backup of the vault before";;
      esac
    fi
    coffer vault restore old --force --other-vault --key-file key >said.next 2>&1 || { echo "$call $when: again:"; cat said.next; }
    [ "$(items key)" = "gone large " ] || { echo "$call $when: again, and not restored:"; items key; }
    coffer vault verify --key-file key >said 2>&1 || { echo "$call $when: the vault:"; cat said; }
    left=$(find coffer -name '*.new' ! -path 'coffer/state/*'; ls coffer/state/anchors | grep restore)
    [ -z "$left" ] || echo "$call $when: left behind: $left"
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """

  @Test(arguments: ["continuing", "replacing", "exchanging", "logged"], ["signal=SIGKILL", "error=ENOSPC", "error=EIO"])
  func theVaultIsTheOneBeforeOrThatOfTheBackup(way: String, end: String) throws {
    let calls =
      end == "signal=SIGKILL"
      ? ["pwrite64", "write", "fsync", "fdatasync", "renameat2", "rename", "link", "unlink", "mkdir"]
      : ["pwrite64", "fsync", "fdatasync", "renameat2", "rename", "mkdir"]
    let injection = Injection(end: end, calls: calls, mustReach: ["pwrite64", "renameat2"])
    let faults = try injection.faults(of: "way=\(way)\n\(Self.checking)", in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// A file system without second names.
  @Test func aFileWithoutASecondNameIsRenamed() throws {
    let injection = Injection(end: "error=EPERM", calls: ["link"], mustReach: ["link"])
    let faults = try injection.faults(of: "way=logged\n\(Self.checking)", in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// The control: a vault whose file is copied over in its place is found damaged.
  @Test func aRestoreInPlaceIsFound() throws {
    let injection = Injection(end: "signal=SIGKILL", calls: ["write"], mustReach: ["write"])
    let script = Self.checking.replacing(
      "coffer vault restore old --force --other-vault --key-file key >said",
      with: "dd if=old of=coffer/vault.coffer bs=4096 status=none >said")
    #expect(try !injection.faults(of: "way=replacing\n\(script)", in: Workspace()).isEmpty)
  }
}
