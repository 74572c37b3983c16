import Glibc
import Testing

/// Programs that use the library, installed as apps in a real vault: two of one team, one of another.
@Suite struct SharedTokenTests {
  private static let preparation = """
    set -e; umask 077; mkdir bin credentials; cp $(command -v SharedToken) bin/token
    head -c 32 /dev/urandom >credentials/coffer.key
    export CREDENTIALS_DIRECTORY=$W/credentials SHARED_TOKEN_VAULT=$W/coffer/vault.coffer
    coffer vault init --key-file credentials/coffer.key --no-passphrase
    for team in one two; do coffer app keygen $team.key >$team; done
    draft() {
      printf '%s\\n' "{ Identifier = $1; DisplayName = X; Version = 1; Executables = ( { Path = bin/token; } );" \\
        '"keychain-access-groups" = ( "$(TEAM).tokens" ); }' >$1.draft
      coffer app sign $1.draft --key $2.key >$1.signed 2>/dev/null; coffer app install $1.signed >/dev/null 2>&1
    }
    draft com.example.writer one; draft com.example.reader one; draft com.example.stranger two
    """
  /// Without a sandbox: in there is no vault, as the agent is not asked.
  private static let functions = """
    export CREDENTIALS_DIRECTORY=$W/credentials SHARED_TOKEN_VAULT=$W/coffer/vault.coffer
    app() { name=$1; shift; coffer app run com.example.$name --no-sandbox -- "$@" 2>errors; status=$?; grep -v warning: errors >&2; return $status; }
    """

  private func prepared() throws -> Workspace {
    let workspace = try Workspace()
    let outcome = try workspace.run(script: Self.preparation)
    try #require(outcome.status == 0, "\(outcome.errors)")
    return workspace
  }

  private func run(_ workspace: Workspace, _ script: String) throws -> Outcome {
    try workspace.run(script: Self.functions + "\n" + script)
  }

  @Test("two apps of a team share a token, one of another team is refused, and a removal keeps it") func story() throws {
    let workspace = try prepared()
    #expect(try run(workspace, "printf s3cret | app writer add api").status == 0)
    #expect(try run(workspace, "app reader get api").output == "s3cret")
    #expect(try run(workspace, "app reader list").output == run(workspace, "echo \"$(cat one).tokens: api\"").output)
    // By name it is refused, with an error of its own; in a search it is not there.
    let refused = try run(workspace, "app stranger get api $(cat one).tokens")
    #expect(refused.status == 1 && refused.errors.contains("missingEntitlement"), "\(refused)")
    let searched = try run(workspace, "app stranger get api")
    #expect(searched.status == 1 && searched.errors.contains("notFound"), "\(searched)")
    #expect(try run(workspace, "app stranger list").output == "")
    // Its own is the app's alone.
    #expect(try run(workspace, "printf own | app writer add mine --own").status == 0)
    #expect(try run(workspace, "app writer get mine").output == "own")
    #expect(try run(workspace, "app reader get mine").status == 1)

    #expect(try run(workspace, "printf gone | app writer add session --bound").status == 0)
    #expect(try run(workspace, "app reader get session").output == "gone")
    #expect(
      try run(workspace, "coffer defaults write $W/coffer/Containers/$(cat one).com.example.writer/Library/Preferences/p a b")
        .status == 0)
    #expect(try run(workspace, "coffer app remove com.example.writer").status == 0)
    #expect(try run(workspace, "app writer get api").status == 125)
    #expect(try run(workspace, "app reader get api").output == "s3cret")
    #expect(try run(workspace, "app reader get session").status == 1)
    #expect(try run(workspace, "coffer app install com.example.writer.signed | cut -f 3").output == "again\n")
    #expect(try run(workspace, "app writer get api").output == "s3cret")
    #expect(try run(workspace, "app writer get mine").output == "own")
    #expect(try run(workspace, "ls $W/coffer/Containers/$(cat one).com.example.writer/Library/Preferences").output == "")
  }

  @Test(
    "all apps notice an older vault, by what one of them has last seen",
    arguments: ["d=coffer", "d=data/coffer; mkdir data; mv coffer data; unset COFFER_HOME; export XDG_DATA_HOME=$W/data"])
  func rollback(place: String) throws {
    let workspace = try prepared()
    let outcome = try run(
      workspace,
      """
      unset SHARED_TOKEN_VAULT; \(place)
      printf one | app writer add api; cp $d/vault.coffer older
      printf two | app writer add later; cp older $d/vault.coffer
      for name in reader writer; do app $name get api; echo $?; done
      find $d/Containers -name anchors -o -name 'device*.key'
      """)
    #expect(outcome.output == "1\n1\n" && outcome.errors.matches(of: /integrity/).count == 2, "\(outcome)")
  }

  /// The user 54321 starts a program of root with the set-user-ID bit: `plain` says that the program itself opens the vault.
  @Test(
    "a set-user-ID program is not unlocked by the credentials that its caller names",
    .enabled(if: geteuid() == 0, "only the superuser can act as another user"))
  func elevated() throws {
    let workspace = try prepared()
    let outcome = try run(
      workspace,
      """
      d=$W/coffer/Apps/$(cat one).com.example.reader/bin/token; $d list 2>&1 && echo plain
      p=$d; while [ "$p" != / ]; do chmod go+x "$p"; p=$(dirname "$p"); done; chmod 4755 $d
      chmod a+rx $W/credentials; chmod a+r $W/credentials/coffer.key
      setpriv --reuid 54321 --regid 54321 --clear-groups $d list 2>&1 || :
      """)
    #expect(outcome.status == 0, "\(outcome)")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.first == "plain" && lines.last?.contains("locked") == true, "\(outcome)")
    #expect(lines.last?.contains("CREDENTIALS_DIRECTORY is not set") == true, "\(outcome)")
  }

  @Test("in the sandbox there is no vault, and the error says so", .enabled(if: AppRunTests.isSandboxPossible()))
  func sandbox() throws {
    let workspace = try prepared()
    let outcome = try run(workspace, "coffer app run com.example.writer -- list")
    #expect(outcome.status == 1 && outcome.errors.contains("locked") && outcome.errors.contains("sandbox"), "\(outcome)")
  }

  @Test("a program that was not installed, or not as it is, is not an app") func identity() throws {
    let workspace = try prepared()
    let outside = try run(workspace, "SharedToken list")
    #expect(outside.status == 1 && outside.errors.contains("appNotInstalled"), "\(outside)")
    // Beside the app's own programs, by the same name as a directory of apps, or changed.
    let planted = try run(
      workspace, "d=coffer/Apps/$(cat one).com.example.reader; chmod -R u+w $d; cp bin/token $d/bin/other; $d/bin/other list")
    #expect(planted.status == 1 && planted.errors.contains("does not name bin/other"), "\(planted)")
    let renamed = try run(
      workspace,
      "cp -r coffer/Apps/$(cat two).com.example.stranger $(cat one).com.example.reader; ./$(cat one).com.example.reader/bin/token list"
    )
    #expect(renamed.status == 1 && renamed.errors.contains("with the manifest of"), "\(renamed)")
    let changed = try run(workspace, "d=coffer/Apps/$(cat one).com.example.reader; printf x >>$d/bin/token; $d/bin/token list")
    #expect(changed.status == 1 && changed.errors.contains("executableChanged"), "\(changed)")
    let nothing = try run(workspace, "rm credentials/coffer.key; app writer list")
    #expect(nothing.status == 1 && nothing.errors.contains("locked"), "\(nothing)")
  }

  @Test("an app that is being developed has what it asks for, and leaves nothing") func development() throws {
    let workspace = try prepared()
    let script = """
      unset SHARED_TOKEN_VAULT CREDENTIALS_DIRECTORY
      export TMPDIR=$W/tmp; mkdir -p tmp
      coffer app dev --keychain-group tokens --application-group data -- sh -c '
        printf one | SharedToken add a; SharedToken get a; echo; SharedToken list | cut -d. -f2
        [ -w "$COFFER_CONTAINER/Documents" ] && [ -w "$COFFER_APP_GROUPS" ]; echo $?
        printf two | coffer secret set service/b --as com.example.development; coffer secret list | cut -f1; exit 7'
      echo $?; ls tmp
      coffer app dev --home kept -- sh -c 'printf one | SharedToken add a'; coffer app dev --home kept -- SharedToken get a; echo
      coffer app dev -- /none; echo $?
      coffer app dev --identifier wrong -- true; echo $?
      coffer app dev; echo $?
      """
    let outcome = try run(workspace, script)
    #expect(outcome.output == "one\ntokens: a\n0\nservice/b\nshared-token/a\n7\none\n125\n2\n2\n", "\(outcome)")
    #expect(outcome.errors.contains("no identifier of an app"))
  }

  @Test("what ends `coffer app dev` ends the program, and nothing stays") func ended() throws {
    let workspace = try prepared()
    let outcome = try run(
      workspace,
      """
      export TMPDIR=$W/tmp; mkdir -p tmp
      coffer app dev -- sh -c 'trap "echo ended; exit 3" TERM; echo up >up; while :; do sleep 0.05; done' & pid=$!
      while [ ! -e up ]; do sleep 0.02; done
      kill -TERM $pid; wait $pid; echo $?; ls tmp
      """)
    #expect(outcome.output == "ended\n3\n", "\(outcome)")
  }
}
