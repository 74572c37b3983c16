import Testing

/// `coffer vault passphrase --leaked --force`, killed before its system calls, or with errors of the disk: exactly one of the two passphrases opens
/// the vault, nothing is lost, and the next rotation completes.
@Suite struct RotationKillTests {
  /// A vault with two groups, former versions, a removed item and a grant; `expected` is what it has. A key file reads its content,
  /// because a passphrase takes ten times as long.
  static let vault = """
    umask 077
    content() {
      for name in mail/1 mail/2 mail/3 --group=team\\ db/ada; do echo "$name $(coffer secret get $name --key-file key)"; done
      coffer secret history mail/1 --key-file key | cut -f 1,3
      coffer secret history --deleted --key-file key | cut -f 1
      coffer access list team --key-file key | cut -f 1,3,4
    }
    [ -e expected ] || {
      printf 'correct horse battery staple' >old; printf 'another horse battery staple' >new; head -c 32 /dev/zero >key
      coffer vault init --low-memory --passphrase-fd 3 3<old; coffer vault slot add --new-key-file key --passphrase-fd 3 3<old
      for i in 1 2 3 4; do printf value$i | coffer secret set mail/$i --key-file key; done
      printf newer | coffer secret set mail/1 --update --key-file key 2>said
      coffer secret rm mail/4 --key-file key 2>said
      head -c 20000 /dev/zero | tr '\\0' a | coffer secret set --group team --create-group db/ada --key-file key
      coffer app grant unit:backup.service team --read --key-file key 2>said
      content >expected; mv coffer template
    }
    rm -rf coffer; cp -a template coffer
    opens() { coffer vault verify --passphrase-fd 3 3<$1 >said.$1 2>&1; echo $?; }
    """

  static let leaked =
    "coffer vault passphrase --leaked --force --passphrase-fd 3 --new-passphrase-fd 4 --slot-key-file 2=key"
  /// New keys, with the passphrase that opens the vault.
  static let rotating = "coffer vault rotate --force --key-file key --slot-passphrase-fd 1=3"

  /// - Parameter command: Reads the old passphrase from descriptor 3 and the new one from 4.
  static func checking(_ command: String) -> String {
    """
    \(vault)
    $inject \(command) 3<old 4<new >said 2>&1
    status=$?
    [ $status = 137 ] || [ $status = 12 ] || [ $status = 0 ] || { echo "$call $when: ended with $status"; cat said; }
    case "$(opens old) $(opens new)" in
    "0 7") present=old; [ $status = 0 ] && echo "$call $when: done, and the old passphrase opens it";;
    "7 0")
      present=new
      grep 'nothing has been changed' said && echo "$call $when: the passphrase has been changed";;
    *) echo "$call $when: the passphrases:"; cat said.old said.new; present=old;;
    esac
    content >found 2>&1; cmp -s expected found || { echo "$call $when: something is lost"; diff expected found; }
    \(rotating) 3<$present >said.next 2>&1 || { echo "$call $when: the next rotation:"; cat said.next; }
    [ "$(opens $present)" = 0 ] || { echo "$call $when: after the next rotation:"; cat said.$present; }
    content >found 2>&1; cmp -s expected found || { echo "$call $when: lost by the next rotation"; diff expected found; }
    coffer group list --json --key-file key | grep -q '"rekey":{' && echo "$call $when: a re-key is left"
    left=$(ls -A coffer coffer/backups | grep -e '\\.new' -e before-rotation)
    [ -z "$left" ] || echo "$call $when: left behind: $left"
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """
  }

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC", "error=EIO"]) func exactlyOnePassphraseOpensTheVault(end: String) throws {
    let calls =
      end == "signal=SIGKILL"
      ? ["pwrite64", "fdatasync", "fsync", "renameat2", "rename", "unlink"] : ["pwrite64", "fdatasync", "fsync", "renameat2"]
    let injection = Injection(end: end, calls: calls, mustReach: ["pwrite64"])
    let faults = try injection.faults(of: Self.checking(Self.leaked), in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// The control: the same check, after a rotation that is not killed, finds an item that is dropped from the copy.
  @Test(arguments: ["record", "item", "nothing"]) func whatIsDroppedIsFound(dropped: String) throws {
    let drop =
      switch dropped {
      case "record": "sqlite3 coffer/vault.coffer 'DELETE FROM rec WHERE id=(SELECT max(id) FROM rec)'"
      case "item": "coffer secret rm mail/2 --purge --force --key-file key"
      default: "true"
      }
    let script = "call=none when=0 inject=; >trace\n" + Self.checking("sh -c \"\(Self.leaked); \(drop)\"")
    let outcome = try Workspace().run(script: script)
    #expect((outcome.output == "") == (dropped == "nothing"), "\(outcome.output)\(outcome.errors)")
  }

  /// Killed anywhere, or with a full disk: the recovery key that was printed opens the vault, or else the one of before, and never both.
  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC"]) func oneRecoveryKeyOpensTheVault(end: String) throws {
    let script = """
      \(Self.vault)
      coffer vault slot add --new-recovery-key --key-file key >first
      $inject coffer vault rotate --force --new-recovery-key --passphrase-fd 3 --slot-key-file 2=key 3<old >second 2>errors
      status=$?
      [ $status = 137 ] || [ $status = 12 ] || [ $status = 0 ] || { echo "$call $when: ended with $status"; cat errors; }
      opened=
      for key in first second; do
        [ -s $key ] && coffer vault verify --recovery-key-fd 3 3<$key >state 2>&1 && opened="$opened$key"
      done
      case "$status $opened" in
      "0 second" | "137 first" | "137 second" | "12 first") ;;
      "12 second") grep 'nothing has been changed' errors && echo "$call $when: the recovery key has been changed";;
      *) echo "$call $when: ended with $status, and opened by: $opened";;
      esac
      [ "$(opens old)" = 0 ] || { echo "$call $when: the passphrase:"; cat said.old; }
      content >found 2>&1; cmp -s expected found || { echo "$call $when: something is lost"; diff expected found; }
      [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
      """
    let injection = Injection(
      end: end, calls: ["pwrite64", "write"], mustReach: ["pwrite64", "write"])
    let faults = try injection.faults(of: script, in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// A vault and its recovery key come in one commit. Before that, the key was printed.
  @Test func aNewVaultHasItsRecoveryKey() throws {
    let script = """
      umask 077; rm -rf coffer; head -c 32 /dev/zero >key
      $inject coffer vault init --key-file key --no-passphrase --recovery-key >said 2>errors
      status=$?
      [ $status = 137 ] || [ $status = 0 ] || { echo "$call $when: ended with $status"; cat errors; }
      if [ -e coffer/vault.coffer ]; then
        coffer vault verify --key-file key >state 2>&1 || { echo "$call $when: the key file:"; cat state; }
        coffer vault verify --recovery-key-fd 3 3<said >state 2>&1 || { echo "$call $when: the recovery key:"; cat state; }
      elif [ $status = 0 ]; then
        echo "$call $when: no vault"
      fi
      [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
      """
    let calls = ["write", "pwrite64", "fsync", "fdatasync", "renameat2"]
    let injection = Injection(end: "signal=SIGKILL", calls: calls, mustReach: ["write", "pwrite64"])
    let faults = try injection.faults(of: script, in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// A machine with 1 GiB of memory, of which half may be spent, does not seal a slot that takes 1 GiB: it could not open it again.
  @Test func noSlotCostsMoreThanThisMachineHas() throws {
    let script = """
      umask 077; printf 'correct horse battery staple' >old; head -c 32 /dev/zero >key
      coffer vault init --low-memory --passphrase-fd 3 3<old; coffer vault slot add --new-key-file key --passphrase-fd 3 3<old
      coffer vault policy kdf-memory=1048576 --key-file key >said
      start=$(printf '%064d' 0)
      for command in rotate 'rotate --slot-passphrase-fd 1=4'; do
        way='--passphrase-fd 3 --slot-key-file 2=key'; [ "$command" = rotate ] || way='--key-file key'
        strace -f -qq -o trace -e trace=sysinfo -e inject=sysinfo:poke_exit=@arg1=${start}0000004000000000 \
          coffer vault $command $way --force 3<old 4<old 2>&1; echo $?
      done
      ls coffer | grep -c backups
      coffer vault verify --passphrase-fd 3 3<old >said && echo sound
      """
    let outcome = try Workspace().run(script: script)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    let refusal = "unlocking would take more time or memory than allowed (slot 1)"
    #expect(lines.filter { $0.contains(refusal) }.count == 2, "\(outcome)")
    #expect(lines.filter { $0 == "1" }.count == 2 && lines.contains("sound"), "\(lines) \(outcome.errors)")
    #expect(lines.suffix(2).first == "0", "A backup was begun: \(lines)")
  }

  /// A command that SIGTERM interrupts at a later write each time, until it has ended by that and the condition holds.
  private static func interrupted(_ command: String, every step: Int, until condition: String) -> String {
    """
    when=1; while [ $when -lt 400 ]; do
      rm -rf coffer; cp -a template coffer
      strace -f -qq -o trace -e trace=pwrite64 -e inject=pwrite64:signal=SIGTERM:when=$when \(command) 3<old 4<new >said 2>&1
      status=$?
      [ $status = 8 ] && \(condition) && break
      when=$((when + \(step)))
    done
    """
  }

  /// The commit of the new master key is made.
  private static let isCommitted = "[ \"$(opens old)\" = 7 ]"

  /// After the commit the backup still opens with the leaked passphrase: it is named, and the next rotation removes it.
  @Test func theBackupOfAnInterruptedRotationIsNamed() throws {
    let script = """
      \(Self.vault)
      \(Self.interrupted(Self.leaked, every: 5, until: Self.isCommitted))
      file=$(sed -n 's/^note: \\(.*before-rotation.coffer\\): opens with the credentials of before.*/\\1/p' said)
      coffer vault verify --vault "$file" --passphrase-fd 3 3<old | head -n 1
      \(Self.rotating) 3<new >said 2>&1; echo $?
      grep -A 1 'were removed' said | grep -c before-rotation; ls "$file" 2>&1 | grep -c 'No such file'; ls coffer/backups | wc -l
      """
    let outcome = try Workspace().run(script: script)
    #expect(outcome.output.hasSuffix("records, all sound\n0\n1\n1\n1\n"), "\(outcome)")
  }

  /// SIGTERM comes right after the commit of the master key: no group has new keys yet, and a rotation of one of them makes those of all.
  @Test func aLaterRotationOfOneGroupPassesOverNone() throws {
    let script = """
      \(Self.vault)
      \(Self.interrupted(Self.leaked, every: 1, until: Self.isCommitted))
      coffer group list --json --key-file key | grep -o '"rekey":{' | wc -l
      coffer vault rotate --group team --force --key-file key 2>said | cut -d : -f 2
      coffer group list --json --key-file key | grep -o '"rekey":{' | wc -l
      content | cmp - expected
      """
    let outcome = try Workspace().run(script: script)
    #expect(outcome.output == "2\n 2 slots, 2 groups with new keys\n0\n" && outcome.errors == "", "\(outcome)")
  }

  /// SIGTERM comes between two steps: new keys that were made stay, and the group list shows how far it came.
  @Test func anInterruptedRekeyIsShownAndGoesOn() throws {
    let script = """
      \(Self.vault)
      \(Self.interrupted(Self.rotating, every: 5, until: "{ coffer group list --key-file key >list 2>note; [ -s note ]; }"))
      echo $status; cat note; head -n 1 said; coffer vault status --key-file key | grep re-key | cut -f 1
      coffer group list --json --key-file key | grep -c '"rekey":{"done":'
      content | cmp - expected
      \(Self.rotating) 3<old >said 2>&1; echo $?; coffer group list --key-file key 2>&1 >list
      content | cmp - expected
      """
    let outcome = try Workspace().run(script: script)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 8 && outcome.errors == "", "\(outcome.output)\(outcome.errors)")
    #expect(lines.first == "8" && lines.suffix(2) == ["1", "0"], "\(lines)")
    #expect(
      lines.contains { $0.contains("a re-key is not finished") } && lines.contains { $0.hasPrefix("re-key of ") }, "\(lines)")
    #expect(lines.contains("coffer: interrupted: new keys that were made stay"), "\(lines)")
  }
}
