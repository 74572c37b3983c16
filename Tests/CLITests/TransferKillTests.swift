import Testing

/// `coffer secret export --to` and `coffer import coffer`, killed before their system calls, or with errors of the disk: a file with the name
/// of an export is one, and an import leaves whole items.
@Suite struct TransferKillTests {
  /// Two vaults: the one in use, and `other` with items of many pages.
  static let vaults = """
    umask 077; [ -e key ] || { head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
      coffer vault init --vault other --key-file key --no-passphrase
      head -c 90000 /dev/zero | coffer secret set item/large --vault other --key-file key
      for name in 1 2 3 4; do printf $name | coffer secret set item/$name --vault other --key-file key; done
      cp -a coffer empty; }
    rm -rf coffer out .out.*; cp -a empty coffer
    """

  static let exporting = """
    \(vaults)
    $inject coffer secret export --to out --vault other --key-file key --new-key-file key >said 2>&1
    status=$?
    [ $status = 137 ] || [ $status = 12 ] || [ $status = 0 ] || { echo "$call $when: ended with $status"; cat said; }
    if [ -e out ]; then
      coffer vault verify --vault out --key-file key >state 2>&1 || { echo "$call $when: no vault:"; cat state; }
      [ $(coffer secret list --vault out --key-file key | wc -l) = 5 ] || echo "$call $when: not all items"
      rm -f out
    else
      [ $status = 0 ] && echo "$call $when: done, and no file"
    fi
    left=$(ls -A | grep 'out.*new')
    [ -z "$left" ] || [ $status = 137 ] || echo "$call $when: left behind: $left"
    coffer secret export --to out --vault other --key-file key --new-key-file key >said 2>&1 || { echo "$call $when: again:"; cat said; }
    left=$(ls -A | grep 'out.*new')
    [ -z "$left" ] || echo "$call $when: left behind for good: $left"
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """

  /// The file that a killed process has left holds secrets, and the next export removes it.
  static let exportingPlainText = """
    \(vaults)
    rm -f whole; coffer secret export --to whole --format bitwarden --vault other --key-file key >said 2>&1 || { cat said; exit 1; }
    $inject coffer secret export --to out --format bitwarden --vault other --key-file key >said 2>&1
    status=$?
    [ $status = 137 ] || [ $status = 12 ] || [ $status = 0 ] || { echo "$call $when: ended with $status"; cat said; }
    if [ -e out ]; then
      cmp -s out whole || echo "$call $when: not the whole file"
      [ $(stat -c %a out) = 600 ] || echo "$call $when: another mode"
      rm -f out
    else
      [ $status = 0 ] && echo "$call $when: done, and no file"
    fi
    left=$(ls -A | grep 'out.*new')
    [ -z "$left" ] || [ $status = 137 ] || echo "$call $when: left behind: $left"
    coffer secret export --to out --format bitwarden --vault other --key-file key >said 2>&1 || { echo "$call $when: again:"; cat said; }
    left=$(ls -A | grep 'out.*new')
    [ -z "$left" ] || echo "$call $when: left behind for good: $left"
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """

  static let importing = """
    \(vaults)
    $inject coffer import coffer other --key-file key --from-key-file key >said 2>&1
    status=$?
    [ $status = 137 ] || [ $status = 12 ] || [ $status = 0 ] || { echo "$call $when: ended with $status"; cat said; }
    coffer vault verify --key-file key >state 2>&1 || { echo "$call $when: the vault:"; cat state; }
    for name in $(coffer secret list --key-file key | cut -f 1); do
      coffer secret get $name --vault other --key-file key >there; coffer secret get $name --key-file key | cmp -s - there ||
        echo "$call $when: $name is not whole"
    done
    [ $status = 0 ] && [ $(coffer secret list --key-file key | wc -l) != 5 ] && echo "$call $when: done, and not all items are there"
    coffer import coffer other --key-file key --from-key-file key >said 2>&1 || { echo "$call $when: again:"; cat said; }
    [ $(grep -c -e added -e identical said) = 5 ] || { echo "$call $when: again:"; cat said; }
    left=$(find coffer -name '*.new' ! -path 'coffer/state/*')
    [ -z "$left" ] || echo "$call $when: left behind: $left"
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """

  /// Former passwords are written before the present one, so that an import that is killed between them goes on.
  static let importingForeign = """
    umask 077; [ -e key ] || { head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
      printf '{"items":[{"type":1,"name":"Mail","notes":"n","login":{"username":"ada","password":"new"},"passwordHistory":[
        {"lastUsedDate":"2025","password":"old"},{"lastUsedDate":"2026","password":"mid"}]},{"type":1,"name":"Bank","login":
        {"username":"ada","password":"pin"}}]}' >items.json; cp -a coffer empty; }
    rm -rf coffer; cp -a empty coffer
    $inject coffer import bitwarden items.json --key-file key >said 2>&1
    status=$?
    case $status in 0|12|137) ;; *) echo "$call $when: ended with $status"; cat said ;; esac
    coffer vault verify --key-file key >state 2>&1 || { echo "$call $when: the vault:"; cat state; }
    coffer import bitwarden items.json --key-file key >said 2>&1 || { echo "$call $when: again:"; cat said; }
    [ "$(coffer list --key-file key | cut -f 1 | sort | tr '\\n' ' ')" = 'Bank/ada Mail#notes/ada Mail/ada ' ] ||
      { echo "$call $when: items:"; coffer list --key-file key; }
    [ "$(coffer get Mail/ada --key-file key)" = new ] || echo "$call $when: not the present password"
    [ $(coffer secret history Mail/ada --key-file key | wc -l) = 3 ] || echo "$call $when: former passwords are missing"
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC", "error=EIO"]) func aForeignImportGoesOn(end: String) throws {
    let calls = end == "error=ENOSPC" ? ["pwrite64", "write"] : ["pwrite64", "fdatasync,fsync", "write"]
    let injection = Injection(end: end, calls: calls, mustReach: ["pwrite64"])
    let faults = try injection.faults(of: Self.importingForeign, in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC", "error=EIO"]) func aFileWithTheNameOfAnExportIsOne(end: String) throws {
    let calls = end == "error=ENOSPC" ? ["pwrite64", "renameat2"] : ["pwrite64", "fsync", "renameat2"]
    let injection = Injection(end: end, calls: calls, mustReach: ["pwrite64", "renameat2"])
    let faults = try injection.faults(of: Self.exporting, in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC", "error=EIO"]) func aFileInPlainTextIsWhole(end: String) throws {
    let calls = end == "error=ENOSPC" ? ["write", "renameat2"] : ["write", "fsync", "renameat2"]
    let injection = Injection(end: end, calls: calls, mustReach: ["write", "renameat2"])
    let faults = try injection.faults(of: Self.exportingPlainText, in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC", "error=EIO"]) func anImportLeavesWholeItems(end: String) throws {
    let calls = end == "error=ENOSPC" ? ["pwrite64", "write"] : ["pwrite64", "fdatasync", "fsync", "write"]
    let injection = Injection(end: end, calls: calls, mustReach: ["pwrite64"])
    let faults = try injection.faults(of: Self.importing, in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// The control: a file that is written under its own name is found.
  @Test func anExportThatIsNotMadeInOneStepIsFound() throws {
    let injection = Injection(end: "signal=SIGKILL", calls: ["write"], mustReach: ["write"])
    let script = Self.exporting.replacing(
      "$inject coffer secret export --to out --vault other --key-file key --new-key-file key",
      with: "$inject dd if=other of=out bs=4096 status=none")
    let faults = try injection.faults(of: script, in: Workspace())
    #expect(faults.contains { $0.contains("no vault") }, "\(faults)")
  }
}
