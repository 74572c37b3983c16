import Testing

/// `coffer vault backup`, killed before its system calls, or with errors of the disk: a file that has the name of a backup is one, and the
/// next backup removes what a kill has left.
@Suite struct BackupKillTests {
  /// A vault with a secret of many pages.
  static let vault = """
    umask 077; [ -e key ] || { head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
      head -c 300000 /dev/zero | coffer secret set large --key-file key; printf x | coffer secret set small --key-file key; }
    rm -rf coffer/backups
    """

  static func checking(_ command: String) -> String {
    """
    \(vault)
    $inject \(command) >said 2>&1
    status=$?
    for file in coffer/backups/*.coffer; do
      [ -e "$file" ] || continue
      coffer vault verify --vault "$file" --key-file key >state 2>&1 || { echo "$call $when: $file:"; cat state; }
    done
    left=$(ls -A coffer/backups 2>/dev/null | grep '\\.new')
    [ -z "$left" ] || [ $status = 137 ] || echo "$call $when: left behind: $left"
    coffer vault backup >said.next 2>&1 || { echo "$call $when: again:"; cat said.next; }
    left=$(ls -A coffer coffer/backups | grep '\\.new')
    [ -z "$left" ] || echo "$call $when: left behind for good: $left"
    coffer vault verify --key-file key >state 2>&1 || { echo "$call $when: the vault:"; cat state; }
    [ $status = 137 ] || [ $status = 12 ] || [ $status = 0 ] || { echo "$call $when: ended with $status"; cat said; }
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """
  }

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC", "error=EIO"]) func aFileWithTheNameOfABackupIsOne(end: String) throws {
    let calls =
      switch end {
      case "signal=SIGKILL": ["pwrite64", "fsync", "renameat2", "mkdir", "unlink"]
      case "error=EIO": ["pwrite64", "fsync", "renameat2", "mkdir"]
      default: ["pwrite64", "renameat2", "mkdir"]
      }
    let injection = Injection(end: end, calls: calls, mustReach: ["pwrite64", "renameat2", "mkdir"])
    let faults = try injection.faults(of: Self.checking("coffer vault backup"), in: Workspace())
    #expect(faults.isEmpty, "\(faults)")
  }

  /// The control: a copy under its own name from the beginning is found.
  @Test func aBackupThatIsNotMadeInOneStepIsFound() throws {
    let injection = Injection(end: "signal=SIGKILL", calls: ["write"], mustReach: [])
    let copy = "dd if=coffer/vault.coffer of=coffer/backups/20231114T221320Z-g1.coffer bs=4096 status=none"
    let faults = try injection.faults(of: Self.checking("sh -c 'mkdir coffer/backups; exec \(copy)'"), in: Workspace())
    #expect(faults.contains { $0.contains("g1.coffer:") }, "\(faults)")
  }
}
