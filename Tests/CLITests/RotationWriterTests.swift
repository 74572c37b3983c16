import Testing

/// Others use the vault while it gets new keys.
@Suite struct RotationWriterTests {
  /// Four writers, two of them through the agent. Each notes what was acknowledged, and goes on until `stop` is there. A writer may be told
  /// that the master key was changed, or that the agent was locked by that, and nothing else.
  static let writers = """
    umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase; coffer vault unlock --key-file key
    coffer group create team --key-file key
    write() {
      number=0
      while [ ! -e stop ] || [ $number -lt 3 ]; do
        printf value$number | coffer secret set w$1/$number $2 --no-input >said.$1 2>&1
        case $? in
        0) echo w$1/$number value$number >>acknowledged.$1; number=$((number + 1));;
        4) echo w$1/$number value$number >>acknowledged.$1; number=$((number + 1));;
        5) [ -n "$2" ] || coffer vault unlock --key-file key >said.$1 2>&1;;
        12) ;;
        *) echo "writer $1:"; cat said.$1; number=$((number + 1));;
        esac
      done
    }
    for i in 1 2; do write $i '--no-agent --key-file key' & done; for i in 3 4; do write $i '' & done
    for i in 1 2 3; do coffer vault rotate --force --key-file key >said 2>&1 || { echo "rotation $i:"; cat said; }; done
    >stop; wait
    """

  static let checking = """
    for i in 1 2 3 4; do
      while read name value; do
        [ "$(coffer secret get $name --no-agent --key-file key 2>&1)" = $value ] || echo "$name was acknowledged, and is lost"
      done <acknowledged.$i
      [ $(wc -l <acknowledged.$i) -ge 3 ] || echo "writer $i has not written"
    done
    coffer vault verify --key-file key >said 2>&1 || cat said
    coffer vault status --json | grep -q '"generation":' || echo "no status"
    """

  private static func run(_ script: String) throws -> Outcome {
    try Workspace().run(script: "trap 'coffer agent stop >/dev/null 2>&1' EXIT\n\(script)")
  }

  @Test func nothingThatWasAcknowledgedIsLost() throws {
    let outcome = try Self.run("\(Self.writers)\n\(Self.checking)")
    #expect(outcome.output == "" && outcome.errors == "", "\(outcome.output)\(outcome.errors)")
  }

  /// The control: one acknowledged item of each kind of writer is removed.
  @Test(arguments: ["w1/1", "w3/1"]) func aLostItemIsFound(name: String) throws {
    let removal = "coffer secret rm \(name) --purge --force --no-agent --key-file key"
    let outcome = try Self.run("\(Self.writers)\n\(removal)\n\(Self.checking)")
    #expect(outcome.output == "\(name) was acknowledged, and is lost\n", "\(outcome.output)\(outcome.errors)")
  }

  /// The first waits for its passphrase, and has the lock meanwhile.
  @Test func oneRotationAtATime() throws {
    let outcome = try Self.run(
      """
      umask 077; head -c 32 /dev/urandom >key; printf 'correct horse battery staple' >pass
      coffer vault init --low-memory --passphrase-fd 3 3<pass; mkfifo fifo
      coffer vault rotate --force --passphrase-fd 3 3<fifo >first 2>&1 & exec 4>fifo
      until grep -q " WRITE .*:$(stat -c %i coffer/vault.coffer.lock 2>/dev/null) 2 2" /proc/locks; do
        kill -0 $! || break; sleep 0.05
      done
      coffer vault rotate --force --passphrase-fd 3 3<pass >/dev/null 2>&1; echo $?
      coffer vault repair --passphrase-fd 3 3<pass >/dev/null 2>&1; echo $?
      cat pass >&4; exec 4>&-; wait; cut -d , -f 2- first | head -n 1; coffer vault verify --passphrase-fd 3 3<pass
      """)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 4 && lines.prefix(2) == ["12", "12"], "\(outcome.output)\(outcome.errors)")
    #expect(lines.count == 4 && lines[2].contains("1 slot") && lines[3].hasSuffix("all sound"), "\(outcome.output)")
  }

  /// The agent is told by the header, and shows the truth before it is asked for an item.
  @Test func theAgentIsLockedByANewMasterKey() throws {
    let outcome = try Self.run(
      """
      umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
      printf x | coffer secret set a/b --key-file key; coffer vault unlock --key-file key; coffer agent status
      coffer vault rotate --force --key-file key >/dev/null 2>&1; coffer agent status
      coffer secret get a/b --no-input >/dev/null 2>&1; echo $?
      coffer vault unlock --key-file key; coffer secret get a/b; echo; coffer agent status
      """)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 5 && outcome.errors == "", "\(outcome.output)\(outcome.errors)")
    #expect(lines.count == 5 && lines[1] == "locked" && lines[4] == "unlocked", "\(lines)")
    #expect(lines.count == 5 && lines[2] == "5" && lines[3] == "x", "\(lines)")
  }
}
