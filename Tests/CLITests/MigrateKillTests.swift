import Testing

/// `coffer vault migrate`, killed before its system calls, and on a full disk: the file is the whole draft or the whole vault.
@Suite struct MigrateKillTests {
  /// $1 is the system call, $2 which of them, $3 what happens to it. Ends with 3 if there are not so many calls.
  static let checking = """
    call=$1 when=$2; umask 077; rm -rf coffer; mkdir -p coffer/state; cp "$VECTORS/Draft/device.key" coffer/state/
    cp "$VECTORS/Draft/vault.coffer" coffer/; cp "$VECTORS/Draft/key" key
    strace -f -qq -o trace -e trace=$call -e inject=$call:$3:when=$when coffer vault migrate --key-file key >said 2>&1
    status=$?
    if [ -e coffer/vault.coffer.draft ]; then
      cmp "$VECTORS/Draft/vault.coffer" coffer/vault.coffer.draft || echo "$call $when: another copy"
    fi
    coffer vault status >state 2>&1
    case $? in
    0) [ -e coffer/vault.coffer.draft ] || echo "$call $when: no copy";;
    1) grep -q "draft of the format" state || cat state
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

  /// Each of the first calls, and then one of so many: the transaction writes some hundred pages.
  static func next(_ when: Int) -> Int { when < 4 ? when + 1 : when + 23 }

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC"]) func theFileIsWhole(end: String) throws {
    let calls =
      end == "signal=SIGKILL"
      ? ["pwrite64", "write", "fsync", "fdatasync", "renameat2", "ftruncate", "unlink"] : ["pwrite64", "write", "renameat2"]
    let workspace = try Workspace()
    var reached: [String: Int] = [:]
    for call in calls {
      var when = 1
      while when < 5000 {
        let outcome = try workspace.run(script: "set -- \(call) \(when) \(end)\n\(Self.checking)")
        #expect(outcome.output == "" && outcome.errors == "", "\(call) \(when): \(outcome.output)\(outcome.errors)")
        guard outcome.status == 0 else {
          #expect(outcome.status == 3, "\(call) \(when): \(outcome)")
          break
        }
        reached[call] = when
        when = Self.next(when)
      }
    }
    for call in ["pwrite64", "write"] { #expect(reached[call, default: 0] > 0, "\(call): the command never got there") }
  }
}
