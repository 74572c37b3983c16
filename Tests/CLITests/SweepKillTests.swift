import Testing

/// `coffer sweep --move` and `--undo`, killed before their system calls, or with errors of the disk.
@Suite struct SweepKillTests {
  /// Two files, of which one is read by git.
  static let files = """
    umask 077; export HOME=$PWD/home
    [ -e key ] || { head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase; cp -a coffer empty
      mkdir made; printf 'A=1\\nDB_PASSWORD="tr0ub4dor"\\n' >made/.env; printf 'https://ada:pa%%24s@example.org\\n' >made/.git-credentials
      printf '[credential]\\n\\thelper = store\\n' >made/.gitconfig; chmod 640 made/.env
      rm -rf coffer home; cp -a empty coffer; cp -a made home; coffer sweep --move --force --key-file key >said 2>&1
      cp -a home swept; cp -a coffer full; }
    rm -rf coffer home
    """

  /// A file is the old one or the new one, and what is no longer in a file is in the vault.
  static let check = """
    for name in .env .git-credentials; do
      cmp -s home/$name made/$name || cmp -s home/$name swept/$name || { echo "$call $when: $name is neither old nor new:"; cat home/$name; }
    done
    [ "$(stat -c %a home/.env)" = 640 ] || echo "$call $when: another mode"
    coffer vault verify --key-file key >state 2>&1 || { echo "$call $when: the vault:"; cat state; }
    grep -q tr0ub4dor home/.env || [ "$(coffer get home/DB_PASSWORD --key-file key 2>&1)" = tr0ub4dor ] || echo "$call $when: lost"
    grep -q ada home/.git-credentials ||
      printf 'protocol=https\\nhost=example.org\\n\\n' | coffer credential git get --key-file key 2>&1 | grep -q 'password=pa$s' ||
      echo "$call $when: lost for git"
    """

  /// The lock is that of a git that was killed itself, and git asks for its removal. git fails with 1 for us if its own calls fail.
  static let moving = """
    \(files)
    cp -a empty coffer; cp -a made home
    $inject coffer sweep --move --force --key-file key >said 2>&1
    status=$?
    case $status in 0|1|12|137) ;; *) echo "$call $when: ended with $status"; cat said ;; esac
    rm -f home/.gitconfig.lock
    \(check)
    coffer sweep --move --force --key-file key >said 2>&1 || { echo "$call $when: again:"; cat said; }
    diff -r home swept >state || { echo "$call $when: again:"; cat state; }
    coffer sweep --undo --key-file key >said 2>&1 || { echo "$call $when: undo:"; cat said; }
    diff -r home made >state || { echo "$call $when: undo:"; cat state; }
    [ -z "$(coffer list --key-file key)" ] || { echo "$call $when: left in the vault:"; coffer list --key-file key; }
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """

  static let undoing = """
    \(files)
    cp -a full coffer; cp -a swept home
    $inject coffer sweep --undo --key-file key >said 2>&1
    status=$?
    # 5: nothing could be kept of an item that is removed, which takes a person's yes.
    case $status in 0|1|5|12|137) ;; *) echo "$call $when: ended with $status"; cat said ;; esac
    rm -f home/.gitconfig.lock
    \(check)
    coffer sweep --undo --key-file key >said 2>&1 || { echo "$call $when: again:"; cat said; }
    diff -r home made >state || { echo "$call $when: again:"; cat state; }
    [ -z "$(coffer list --key-file key)" ] || { echo "$call $when: left in the vault:"; coffer list --key-file key; }
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC", "error=EIO"], [SweepKillTests.moving, SweepKillTests.undoing])
  func everyFileIsWholeAndNoSecretIsLost(end: String, script: String) throws {
    let calls = end == "error=ENOSPC" ? ["write", "pwrite64"] : ["write", "pwrite64", "fsync", "rename,renameat2"]
    let injection = Injection(end: end, calls: calls, mustReach: ["write", "pwrite64"])
    let faults = try injection.faults(of: script, in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// The control: a program that writes the file where it lies is found.
  @Test func aFileThatIsWrittenWhereItLiesIsFound() throws {
    let injection = Injection(end: "signal=SIGKILL", calls: ["write"], mustReach: ["write"])
    let script = Self.moving.replacing(
      "$inject coffer sweep --move --force --key-file key", with: "$inject dd if=swept/.env of=home/.env bs=9 status=none")
    let faults = try injection.faults(of: script, in: Workspace())
    #expect(faults.contains { $0.contains("neither old nor new") }, "\(faults)")
  }
}
