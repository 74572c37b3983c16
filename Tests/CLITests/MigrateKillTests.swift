import Testing

/// `coffer vault migrate`, killed before its system calls, and on a full disk: the file is the whole draft or the whole vault.
@Suite struct MigrateKillTests {
  static let checking = """
    umask 077; rm -rf coffer; mkdir -p coffer/state; cp "$VECTORS/Draft/device.key" coffer/state/
    cp "$VECTORS/Draft/vault.coffer" coffer/; cp "$VECTORS/Draft/key" key
    $inject coffer vault migrate --key-file key >said 2>&1
    status=$?
    if [ -e coffer/vault.coffer.draft ]; then
      cmp "$VECTORS/Draft/vault.coffer" coffer/vault.coffer.draft || echo "$call $when: another copy"
    fi
    coffer vault status >state 2>&1
    case $? in
    0) [ -e coffer/vault.coffer.draft ] || echo "$call $when: no copy";;
    1) grep -q "has a format of before" state || cat state
       coffer vault migrate --key-file key >said 2>&1 || { echo "$call $when: again:"; cat said; };;
    *) echo "$call $when:"; cat state;;
    esac
    coffer vault verify --key-file key >said 2>&1 || { echo "$call $when: the vault:"; cat said; }
    grep -q "^273 records, all sound" said || cat said
    left=$(ls -A coffer | grep '\\.new$')
    [ -z "$left" ] || echo "$call $when: left behind: $left"
    [ $status = 137 ] || [ $status = 12 ] || [ $status = 0 ] || echo "$call $when: ended with $status"
    [ $status = 0 ] && exit 3; exit 0
    """

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC"]) func theFileIsWhole(end: String) throws {
    let calls =
      end == "signal=SIGKILL"
      ? ["pwrite64", "write", "fsync", "fdatasync", "renameat2", "ftruncate", "unlink"] : ["pwrite64", "write", "renameat2"]
    let injection = Injection(end: end, calls: calls, mustReach: ["pwrite64", "write"])
    let faults = try injection.faults(of: Self.checking, in: Workspace())
    #expect(faults.isEmpty, "\(faults)")
  }
}
