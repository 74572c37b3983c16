import Testing

/// `coffer vault repair`, killed before its system calls, or with errors of the disk: the vault is as damaged as before or repaired, and the
/// next repair completes.
@Suite struct RepairKillTests {
  /// A vault with a forged item, a missing one, a row that no node lists, and one damaged node; `old` is a backup from before.
  static let vault = """
    umask 077
    items() { coffer secret list --key-file key 2>/dev/null | cut -f 1 | tr '\\n' ' '; }
    [ -e expected ] || {
      head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
      for name in a b c d e; do printf $name | coffer secret set db/$name --key-file key; done
      printf newer | coffer secret set db/e --update --key-file key 2>said
      coffer vault backup old >said; printf f | coffer secret set db/f --key-file key
      sqlite3 coffer/vault.coffer "UPDATE rec SET s=zeroblob(length(s)) WHERE id=(SELECT min(id) FROM rec WHERE id>x'01' AND id<x'80');
        DELETE FROM rec WHERE id=(SELECT max(id) FROM rec WHERE id<x'80');
        INSERT INTO rec SELECT x'55555555555555555555555555555555',grp,m,a,d,s FROM rec WHERE id<x'01' LIMIT 1"
      items >damaged; cp -a coffer template
      coffer vault repair --from old --force --key-file key >said 2>&1; items >expected
    }
    rm -rf coffer; cp -a template coffer
    """

  static func checking(_ command: String) -> String {
    """
    \(vault)
    $inject \(command) >said 2>&1
    status=$?
    [ $status = 137 ] || [ $status = 12 ] || [ $status = 0 ] || { echo "$call $when: ended with $status"; cat said; }
    if coffer vault verify --key-file key >state 2>&1; then
      [ "$(items)" = "$(cat expected)" ] || { echo "$call $when: something is lost:"; items; cat expected; }
      ls coffer/backups/*.coffer >/dev/null 2>&1 || echo "$call $when: repaired without a backup"
      ls coffer/backups/*.coffer.repair >/dev/null 2>&1 || [ $status = 12 ] || echo "$call $when: repaired without a report"
    else
      [ $status = 0 ] && { echo "$call $when: done, and not sound:"; cat state; }
      [ "$(items)" = "$(cat damaged)" ] || { echo "$call $when: another state:"; items; cat damaged; }
      [ $status = 12 ] && ! grep -q 'not known' said && ls coffer/backups 2>/dev/null | grep before-repair &&
        echo "$call $when: failed, and its copy of the vault stays"
    fi
    coffer vault repair --from old --force --key-file key >said.next 2>&1 || { echo "$call $when: again:"; cat said.next; }
    coffer vault verify --key-file key >state 2>&1 || { echo "$call $when: again, and not sound:"; cat state; }
    [ "$(items)" = "$(cat expected)" ] || { echo "$call $when: lost by the next repair:"; items; }
    left=$(ls -A coffer coffer/backups | grep '\\.new')
    [ -z "$left" ] || echo "$call $when: left behind: $left"
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """
  }

  static let repair = "coffer vault repair --from old --force --key-file key"

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC", "error=EIO"]) func theVaultIsTheOneBeforeOrRepaired(end: String) throws {
    let calls =
      end == "signal=SIGKILL"
      ? ["pwrite64", "fdatasync", "fsync", "renameat2", "rename", "write"] : ["pwrite64", "fdatasync", "fsync", "renameat2"]
    let injection = Injection(end: end, calls: calls, mustReach: ["pwrite64", "renameat2"])
    let faults = try injection.faults(of: Self.checking(Self.repair), in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// The control: a repair after which one record is dropped is found.
  @Test(arguments: [true, false]) func whatIsDroppedIsFound(dropped: Bool) throws {
    let drop = dropped ? "coffer secret rm db/c --purge --force --key-file key" : "true"
    let script = "call=none when=0 inject=; >trace\n" + Self.checking("sh -c '\(Self.repair); \(drop)'")
    let outcome = try Workspace().run(script: script)
    #expect((outcome.output == "") != dropped, "\(outcome.output)\(outcome.errors)")
  }
}
