import Testing

/// Commands that work on a whole vault, after SIGINT at one of their system calls: they say what is there, and leave nothing half done.
@Suite struct InterruptTests {
  /// Runs a command with SIGINT at the first, second, … of each kind of its calls, until it makes no more of any.
  /// - Parameters:
  ///   - prepare: Before each run.
  ///   - check: After each, with `status` and its output in `out` and `errors`. It prints what is wrong.
  private static func interrupting(
    _ command: String, at calls: String, prepare: String, check: String
  ) -> String {
    """
    for call in \(calls); do
      for when in $(seq 40); do
        \(prepare)
        strace -f -qq -o trace -e trace=$call -e inject=$call:signal=SIGINT:when=$when \(command) >out 2>errors
        status=$?
        [ $(grep -c "$call(" trace) -lt $when ] && break
        cancelled() { echo >>cancelled; grep -q 'cancelled: nothing has been changed' errors || { echo "$call $when:"; cat errors; }; }
        \(check)
      done
    done
    [ $(wc -l <cancelled) -gt 0 ] || echo never cancelled
    """
  }

  /// The key that was printed opens the vault, or a note says that it does not.
  @Test(arguments: [
    "vault rotate --force --new-recovery-key --device-key --key-file key", "vault slot add --new-recovery-key --key-file key",
  ]) func aRecoveryKeyThatWasPrintedCountsOrIsDenied(command: String) throws {
    let script = """
      umask 077; head -c 32 /dev/zero >key
      coffer vault init --key-file key --no-passphrase; coffer vault slot add --new-recovery-key --key-file key >first
      printf value | coffer secret set a/b --key-file key; mv coffer template
      opens() { coffer vault status --recovery-key-fd 3 3<$1 >said 2>&1 && echo $1; }
      fails() { echo "$call $when: ended with $status, opened by $opened"; cat errors; }
      \(Self.interrupting(
        "coffer \(command)", at: "write fsync renameat2", prepare: "rm -rf coffer; cp -a template coffer",
        check: """
          opened="$(opens first) $([ -s out ] && opens out)"
          left=$(ls -A coffer coffer/backups coffer/state 2>/dev/null | grep -e '\\.new' -e '-wal' -e '-g[0-9]*')
          case "$status $opened" in
          "8 first ") cancelled; [ -z "$left" ] || { fails; echo "$left"; }
            if [ -s out ]; then grep -q '^note: the recovery key that was printed opens nothing' errors || fails; fi;;
          "8  out") grep -q '^coffer: interrupted: new keys that were made stay' errors || fails;;
          "0  out" | "0 first out") ;;
          "130  out") grep -q '^generation' errors || fails;;
          "130 first ") [ ! -s out ] && [ -z "$left" ] || fails;;
          *) fails;;
          esac
          """))
      """
    let outcome = try Workspace().run(script: script)
    #expect(outcome.output + outcome.errors == "", "\(outcome)")
  }

  @Test func aDraftStaysOrIsConverted() throws {
    let script = """
      umask 077; cp "$VECTORS/Draft/key" key
      \(Self.interrupting(
        "coffer vault migrate --key-file key", at: "write fsync fdatasync unlink",
        prepare: """
          rm -rf coffer; mkdir -p coffer/state; cp "$VECTORS/Draft/device.key" coffer/state/
          cp "$VECTORS/Draft/vault.coffer" coffer/
          """,
        check: """
          left=$(ls -A coffer | grep -v -e '^state$' -e '^vault.coffer$' -e '\\.lock$')
          case "$status $left" in
          "8 ") cancelled; cmp "$VECTORS/Draft/vault.coffer" coffer/vault.coffer;;
          "0 vault.coffer.draft") ;;
          "130 vault.coffer.draft") [ $call = write ] || cat errors;;
          *) echo "$call $when: ended with $status, and left $left"; cat errors;;
          esac
          """))
      """
    let outcome = try Workspace().run(script: script)
    #expect(outcome.output + outcome.errors == "", "\(outcome)")
  }

  @Test func aRestoreIsDoneOrNotBegun() throws {
    let script = """
      umask 077; head -c 32 /dev/zero >key; coffer vault init --key-file key --no-passphrase
      printf value | coffer secret set a/b --key-file key; coffer vault backup copy >said
      printf other | coffer secret set a/b --update --key-file key; mv coffer template
      \(Self.interrupting(
        "coffer vault restore copy --force --key-file key", at: "read write pread64 fsync fdatasync unlink",
        prepare: "rm -rf coffer; cp -a template coffer",
        check: """
          left=$(ls -A coffer coffer/backups 2>/dev/null | grep -e '\\.new' -e '-wal'; ls coffer/backups 2>/dev/null | grep -c '')
          case "$status $(coffer secret get a/b --key-file key) $left" in
          "8 other 0") cancelled;;
          "130 other 0" | "0 value 1" | "130 value 1") ;;
          *) echo "$call $when: ended with $status, and left $left"; cat errors;;
          esac
          """))
      """
    let outcome = try Workspace().run(script: script)
    #expect(outcome.output + outcome.errors == "", "\(outcome)")
  }

  @Test(arguments: ["--new-key-file key", "--format csv"]) func anExportIsThereOrIsNot(options: String) throws {
    let script = """
      umask 077; head -c 32 /dev/zero >key; coffer vault init --key-file key --no-passphrase
      for i in 1 2; do printf value | coffer secret set a/$i --key-file key; done
      \(Self.interrupting(
        "coffer secret export --to made/file \(options) --key-file key", at: "write fsync fdatasync unlink renameat2",
        prepare: "rm -rf made; mkdir made",
        check: """
          case "$status $(ls -A made)" in
          "8 ") cancelled;;
          "130 ") ;;
          "0 file" | "130 file") ;;
          *) echo "$call $when: ended with $status, and left $(ls -A made)"; cat errors;;
          esac
          """))
      """
    let outcome = try Workspace().run(script: script)
    #expect(outcome.output + outcome.errors == "", "\(outcome)")
  }
}
