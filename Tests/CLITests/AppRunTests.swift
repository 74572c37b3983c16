import Glibc
import Testing

/// `coffer app run`, with bubblewrap where it works, without it, and where it does not work.
@Suite struct AppRunTests {
  /// Two apps of one team in a group, one of another, and what none of them may see.
  static let preparation = """
    set -e; umask 077; export COFFER_HOME=$W/coffer
    head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase; echo private >private
    for team in one two; do coffer app keygen $team.key >$team; done
    mkdir bin; printf '#!/bin/sh\\neval "$@"\\n' >bin/shell; cp bin/shell bin/widget
    draft() {
      printf '%s\\n' "{ Identifier = $1; DisplayName = X; Version = 1;" \\
        'Executables = ( { Path = bin/shell; }, { Path = bin/widget; Role = widget; } );' \\
        '"application-groups" = ( "$(TEAM).data" ); }' >draft
      coffer app sign draft --key $2.key >signed; coffer app install signed --key-file key >/dev/null 2>&1
    }
    draft com.example.a one; draft com.example.b one; draft com.example.c two
    """

  static func isSandboxPossible() -> Bool {
    guard let workspace = try? Workspace() else { return false }
    let outcome = try? workspace.run(script: "bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev true")
    return outcome?.status == 0
  }

  private func prepared() throws -> Workspace {
    let workspace = try Workspace()
    let outcome = try workspace.run(script: Self.preparation)
    try #require(outcome.status == 0, "\(outcome.errors)")
    return workspace
  }

  private func run(_ workspace: Workspace, _ script: String) throws -> Outcome {
    try workspace.run(script: "a=coffer/Containers/$(cat one).com.example.a\n\(script)")
  }

  @Test("an app sees its container and its groups, and nothing else of the user's", .enabled(if: isSandboxPossible()))
  func sandbox() throws {
    let workspace = try prepared()
    func app(_ command: String, _ name: String = "a") throws -> Outcome {
      try run(workspace, "coffer app run com.example.\(name) -- '\(command)'")
    }
    #expect(
      try app("echo $COFFER_APP; pwd; echo $HOME; echo $TMPDIR").output
        == run(workspace, "p=$W/$a; echo ${a#coffer/Containers/}; echo $p; echo $p; echo $p/tmp").output)
    #expect(
      try app("echo $COFFER_CONTAINER; basename $COFFER_APP_GROUPS; echo $COFFER_HOME").output
        == run(workspace, "echo $W/$a; echo $(cat one).data; echo").output)
    #expect(try app("echo mine >Documents/mine; cat Documents/mine").output == "mine\n")
    // The files that a shell finds in the sandbox: the system, and of the user's files only the app's.
    let root = try app("ls -A $HOME/.. $HOME/../../Groups $HOME/../../Apps")
    let expected = try run(workspace, "o=$(cat one); printf '%s\\n' $o.com.example.a $o.data")
    #expect(
      Set(root.output.split(separator: "\n").filter { !$0.isEmpty && !$0.hasSuffix(":") })
        == Set(expected.output.split(separator: "\n")))
    for place in ["$HOME/../../../private", "$HOME/../../../key", "$HOME/../../vault.coffer"] {
      #expect(try app("cat \(place)").status != 0, "\(place)")
    }
    // Its own files are not its to change.
    #expect(try app("echo x >>$HOME/../../Apps/$COFFER_APP/bin/shell").status != 0)
    #expect(try app("chmod 700 $HOME/../../Apps/$COFFER_APP/bin").status != 0)
    // A member of the group reads what another has written; an app of another team has a group of its own.
    let group = "$HOME/../../Groups/${COFFER_APP%%.*}.data"
    #expect(try app("echo shared >\(group)/file").status == 0)
    #expect(try app("cat \(group)/file", "b").output == "shared\n")
    #expect(try app("cat \(group)/file", "c").status != 0)
    // Processes of the user are not there either.
    #expect(try app("ls -d /proc/[0-9]* | wc -l").output.split(separator: "\n").first.flatMap { Int($0) } ?? 99 < 8)
  }

  @Test("what the caller has open does not lead out of the sandbox", .enabled(if: isSandboxPossible())) func descriptors() throws
  {
    let workspace = try prepared()
    let outcome = try run(
      workspace,
      """
      exec 8<private 9<.
      coffer app run com.example.a -- 'cat <&8; cat /proc/self/fd/9/private; ls /proc/self/fd/9/..; echo inside'
      """)
    #expect(outcome.output == "inside\n", "\(outcome)")
    // Without a sandbox there is nothing to lead out of.
    #expect(try run(workspace, "coffer app run com.example.a --no-sandbox 8<private -- 'cat <&8'").output == "private\n")
  }

  /// `/usr/games`, which every app sees, is a directory of the test's in the name space in which this runs.
  @Test("nothing of the user's is seen below a directory of the system", .enabled(if: isSandboxPossible())) func homeInSystem()
    throws
  {
    let workspace = try prepared()
    let outcome = try run(
      workspace,
      """
      mkdir -p opt/home; echo private >opt/home/private; cp -a coffer opt/data; echo program >opt/program
      export HOME=/usr/games/home COFFER_HOME=/usr/games/data
      unshare -Urm sh -c 'mount --bind opt /usr/games && exec coffer app run com.example.a -- "
        cd /usr/games; cat program; ls -A home; ls -A data data/Apps data/Containers data/Groups | grep -v :; echo x >~/Documents/x"'
      """)
    let expected = try run(
      workspace, "o=$(cat one); printf '%s\n' program Apps Containers Groups '' $o.com.example.a '' $o.com.example.a '' $o.data")
    #expect(outcome.output == expected.output, "\(outcome)")
  }

  @Test("an app starts after a restoration that was killed", arguments: ["old", "ready"]) func restorationWasKilled(name: String)
    throws
  {
    let workspace = try prepared()
    let outcome = try run(
      workspace,
      """
      cp -a $a coffer/Containers/.$(basename $a).\(name)
      coffer app run com.example.a --no-sandbox -- 'echo started' 2>/dev/null; ls -A coffer/Containers | grep -c '\(name)$'
      """)
    #expect(outcome.output == "started\n0\n", "\(outcome)")
  }

  @Test("Foundation finds the directories of the container", .enabled(if: isSandboxPossible())) func directories() throws {
    let workspace = try prepared()
    let script = """
      cp $(command -v PreferenceProbe) bin/widget
      sed 's/example.a/example.d/; s/Version = 1/Version = 2/' draft >draft2; sed -i 's/example.c/example.d/' draft2
      coffer app sign draft2 --key one.key >signed; coffer app install signed --key-file key >/dev/null 2>&1
      coffer app run com.example.d --executable bin/widget -- directories standard
      """
    let home = try run(workspace, "echo $W/coffer/Containers/$(cat one).com.example.d").output.dropLast()
    let support = "\(home)/Library/Application Support"
    let expected = [
      "\(home)", "\(home)/Documents", "\(home)/Library", "\(home)/Library/Caches", support, "\(home)/tmp",
      "\(home)/Documents", "\(home)/Library/Caches", support, "\(home)",
    ]
    let outcome = try run(workspace, script)
    #expect(outcome.output.split(separator: "\n").map(String.init) == expected, "\(outcome)")
  }

  /// A mode keeps out whoever is not root, so the app belongs to another user here.
  @Test(
    "an app cannot make a file in its Inbox, and reads and deletes what was delivered",
    .enabled(if: geteuid() == 0, "only the superuser can act as another user")) func inbox() throws
  {
    let workspace = try prepared()
    let outcome = try run(
      workspace,
      """
      coffer app deliver com.example.a private; chmod 711 .; chown -R 54321:54321 coffer; cp "$(command -v coffer)" plain
      cp "$(command -v PreferenceProbe)" probe; inbox=$W/$a/Documents/Inbox
      as() { setpriv --reuid 54321 --regid 54321 --clear-groups "$@"; }
      as ./plain app run com.example.a --no-sandbox -- 'touch Documents/Inbox/x; echo $?; cat Documents/Inbox/private; rm Documents/Inbox/private' 2>&1 | grep -c denied
      as ./plain app run com.example.a --no-sandbox -- "touch Documents/x && cat Documents/Inbox/private && $W/probe remove-delivered standard $inbox/private" 2>/dev/null
      ls $inbox | wc -l
      """)
    #expect(outcome.output == "private\n2\nprivate\nremoved\n0\n", "\(outcome)")
  }

  @Test("the exit status is that of the program", .enabled(if: isSandboxPossible())) func status() throws {
    let workspace = try prepared()
    #expect(try run(workspace, "coffer app run com.example.a -- 'exit 42'").status == 42)
    #expect(try run(workspace, "coffer app run com.example.a --executable bin/widget -- 'exit 3'").status == 3)
    #expect(try run(workspace, "coffer app run com.example.a --no-sandbox -- 'exit 43'").status == 43)
  }

  @Test("an app that runs is known to run, until it ends", .enabled(if: isSandboxPossible()), arguments: ["", "--no-sandbox"])
  func runs(option: String) throws {
    let workspace = try prepared()
    let outcome = try run(
      workspace,
      """
      mkfifo $a/tmp/go
      coffer app run com.example.a \(option) -- 'echo up >Documents/up; cat tmp/go' 2>/dev/null & pid=$!
      while [ ! -e $a/Documents/up ]; do sleep 0.02; done
      coffer app purge com.example.a; echo $?
      coffer app remove com.example.a --key-file key; echo $?
      echo >$a/tmp/go; wait $pid
      coffer app purge com.example.a --caches >/dev/null; echo $?
      """)
    #expect(outcome.output == "12\n12\n\n0\n" || outcome.output == "12\n12\n0\n", "\(outcome)")
    #expect(outcome.errors.ranges(of: "a program of the app is running").count == 2)
  }

  /// In a name space in which another file lies over bubblewrap.
  @Test(
    "without bubblewrap nothing is started, unless that is meant", .enabled(if: isSandboxPossible()),
    arguments: [("/dev/null", "is missing"), ("/usr/bin/false", "does not work here")])
  func noFallback(file: String, reason: String) throws {
    let workspace = try prepared()
    func without(_ command: String) throws -> Outcome {
      try run(workspace, "unshare -Urm sh -c 'mount --bind \(file) $(command -v bwrap) && exec \(command)'")
    }
    let refused = try without("coffer app run com.example.a -- \"echo started\"")
    #expect(refused.status == 125 && refused.output == "" && refused.errors.contains(reason), "\(refused)")
    let open = try without("coffer app run com.example.a --no-sandbox -- \"echo started\"")
    #expect(open.status == 0 && open.output == "started\n" && open.errors.contains("runs without a sandbox"), "\(open)")
  }

  @Test func aFailureToStartIsReported() throws {
    let workspace = try prepared()
    let unknown = try run(workspace, "coffer app run com.example.none")
    #expect(unknown.status == 125 && unknown.errors.contains("no such app is installed"))
    let path = try run(workspace, "coffer app run com.example.a --executable bin/none")
    #expect(path.status == 125, "\(path)")
    #expect(path.errors.contains("the app has no such executable (not bin/none, but bin/shell, bin/widget)"), "\(path)")
    let arguments = try run(workspace, "coffer app run com.example.a one two")
    #expect(arguments.status == 2 && arguments.errors.contains("the arguments of the program stand after --"), "\(arguments)")
    let changed = try run(
      workspace,
      """
      chmod 700 coffer/Apps/*.com.example.a/bin/widget; echo >>coffer/Apps/$(cat one).com.example.a/bin/widget
      coffer app run com.example.a
      """)
    #expect(changed.status == 125 && changed.errors.contains("is not the one that was signed"))
  }

  // MARK: Not defended, pinned so that a claim cannot grow unnoticed

  /// The vault is not asked: files that are exchanged together with a manifest of another team are started.
  @Test func notDefendedAnAppThatTheVaultDoesNotKnowIsStarted() throws {
    let workspace = try prepared()
    let outcome = try run(
      workspace,
      """
      export COFFER_HOME=$W/other; coffer vault init --key-file key --no-passphrase; printf '#!/bin/sh\\necho false\\n' >bin/shell
      sed s/example.c/example.a/ draft >draft2; coffer app sign draft2 --key two.key >signed; coffer app install signed --key-file key >/dev/null 2>&1; mv coffer/Apps/$(cat one).com.example.a away; mv other/Apps/*.com.example.a coffer/Apps
      COFFER_HOME=$W/coffer coffer app run com.example.a --no-sandbox; coffer app list --key-file key 2>/dev/null | grep -c false
      """)
    #expect(outcome.output == "false\n0\n", "\(outcome)")
  }
}
