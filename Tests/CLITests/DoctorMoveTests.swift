import DefaultsCommand
import Testing

/// `coffer defaults doctor --move`, killed before each of its system calls that change anything.
@Suite struct DoctorMoveTests {
  /// A vault and three secrets, one of them inside a container, in `template`.
  static let preparation = """
    set -e; umask 077; export COFFER_HOME=$W/template
    head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
    for name in a b c; do (printf ghp_; head -c 18 /dev/urandom | od -An -tx1 | tr -d ' \\n') >$name; done
    coffer defaults write com.example.app first "$(cat a)" --not-a-secret
    coffer defaults write com.example.app list -array "$(cat b)" other --not-a-secret
    coffer defaults write b.example only "$(cat c)" --not-a-secret
    """

  /// $1 is the system call, $2 which of them. Ends with 0 if the command was killed before it, with 3 if there were not so many.
  static let killing = """
    call=$1 when=$2; umask 077; rm -rf coffer; cp -a template coffer
    strace -f -qq -o trace -e trace=$call -e inject=$call:signal=SIGKILL:when=$when \\
      coffer defaults doctor --move --key-file key >said 2>&1
    status=$?
    """

  /// The value of `$1` is where it was or in the vault; run again, it is in the vault, and a reference is where it was.
  static let checking = """
    check() {
      was=$(cat $1); here=$(coffer defaults read $2 $3 | tr -d ' (),\\n"' | sed 's/other$//')
      there=$(coffer secret get "$4" --key-file key 2>/dev/null)
      [ "$here" = "$was" ] || [ "$there" = "$was" ] || echo "$call $when: $1 is lost: $here"
      [ "$there" = "$was" ] || case $here in coffer:*) echo "$call $when: a reference to nothing: $here";; esac
    }
    all() {
      check a com.example.app first com.example.app/first
      check b com.example.app list 'com.example.app/list[0]'
      check c b.example only b.example/only
    }
    all
    coffer defaults doctor --move --key-file key >said 2>&1 || { echo "$call $when: again:"; cat said; }
    all
    for name in a b c; do grep -rlF "$(cat $name)" coffer && echo "$call $when: $name is still there"; done
    coffer defaults doctor >said || grep -v 'left behind\\|hint: remove it' said
    coffer vault verify --key-file key >said 2>&1 || { echo "$call $when: the vault:"; cat said; }
    [ $status = 137 ] || [ $status = 0 ] || echo "$call $when: ended with $status"
    [ $status = 137 ] || exit 3
    """

  @Test(
    "a move that is killed at any step loses nothing, and is finished by running it again",
    arguments: ["fsync", "fdatasync", "rename", "unlink", "ftruncate", "pwrite64", "write", "renameat2"])
  func killedAtEveryStep(call: String) throws {
    let workspace = try Workspace()
    let prepared = try workspace.run(script: Self.preparation)
    try #require(prepared.status == 0, "\(prepared.errors)")
    var count = 0
    while count < 200 {
      let outcome = try workspace.run(script: "set -- \(call) \(count + 1)\n\(Self.killing)\n\(Self.checking)")
      #expect(outcome.output == "" && outcome.errors == "", "\(call) \(count + 1): \(outcome.output)\(outcome.errors)")
      guard outcome.status == 0 else {
        #expect(outcome.status == 3, "\(call) \(count + 1): \(outcome)")
        break
      }
      count += 1
    }
    // Calls that this file system or this version of SQLite does without end after one round.
    if ["fdatasync", "fsync", "rename", "pwrite64"].contains(call) {
      #expect(count > 0, "\(call): the command was never killed")
    }
  }

  @Test func argumentsAfterMove() throws {
    func request(_ words: String...) throws -> DefaultsInvocation.Request {
      try DefaultsInvocation.parse(["doctor"] + words).request
    }
    #expect(try request("--move") == .moveSecrets(nil, key: nil, options: []))
    #expect(try request("--move", "d") == .moveSecrets(.named("d"), key: nil, options: []))
    #expect(try request("--move", "-g", "k") == .moveSecrets(.global, key: "k", options: []))
    #expect(try request("--move", "-app", "a", "-k") == .moveSecrets(.application("a"), key: "-k", options: []))
    #expect(try request("--move", "d", "--", "--k") == .moveSecrets(.named("d"), key: "--k", options: []))
    #expect(try request("--move", "--key-file", "f") == .moveSecrets(nil, key: nil, options: ["--key-file", "f"]))
    #expect(
      try request("--json", "--move", "d", "--vault", "v")
        == .moveSecrets(.named("d"), key: nil, options: ["--json", "--vault", "v"]))
    #expect(try request("--json") == .doctor)
    for words in [["doctor", "d"], ["doctor", "d", "--move"], ["read", "--move"], ["doctor", "--move", "-x"]] {
      #expect(throws: DefaultsFailure.self) { try DefaultsInvocation.parse(words) }
    }
  }
}
