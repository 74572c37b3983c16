import Testing

/// `coffer app install` and `remove`, killed before their system calls that change anything: either installed or not, and
/// finished or undone by whatever command comes next.
@Suite struct AppKillTests {
  /// A team, two versions of an app, and a vault in `template` that knows none of them.
  static let preparation = """
    set -e; umask 077; export COFFER_HOME=$W/template
    head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
    team=$(coffer app keygen team.key); echo $team.com.example.editor >name; echo $team.data >group
    for version in 1 2; do
      mkdir -p v$version/bin; printf "#!/bin/sh\\necho $version\\n" >v$version/bin/editor
      cat >v$version/draft <<END
    { Identifier = com.example.editor; DisplayName = Editor; Version = $version;
      Executables = ( { Path = bin/editor; } ); "application-groups" = ( "\\$(TEAM).data" ); }
    END
      coffer app sign v$version/draft --key team.key >v$version/signed 2>/dev/null
    done
    """

  /// The template for a second version, or for a removal.
  static let installed = """
    set -e; umask 077; export COFFER_HOME=$W/template
    coffer app install v1/signed --key-file key >/dev/null 2>&1
    echo kept >template/Containers/$(cat name)/Documents/kept
    """

  enum Scenario: String, CaseIterable, Sendable {
    case install, update, remove

    var command: String {
      switch self {
      case .install: "install v1/signed"
      case .update: "install v2/signed"
      case .remove: "remove com.example.editor"
      }
    }

    /// The states that are whole: what `list` says of version and state, what the program says, and whether data and group are there.
    var states: String {
      switch self {
      case .install: "none/// 1/installed/1/group"
      case .update: "1/installed/1/data,group 2/installed/2/data,group"
      case .remove: "1/installed/1/data,group 1/removed//"
      }
    }

    var last: String { states.split(separator: " ").last.map(String.init) ?? "" }
  }

  /// $1 is the command, $2 the states that are whole, $3 the last of them. Ends with 0 if it was killed, with 3 if not.
  static let checking = """
    umask 077; rm -rf coffer 2>/dev/null || { chmod -R u+rwx coffer; rm -rf coffer; }; cp -a template coffer
    name=$(cat name)
    $inject coffer app $1 --key-file key >said 2>&1
    status=$?
    state() {
      coffer app list --key-file key >listed 2>said || { echo "$call $when: list:"; cat said; }
      [ -s said ] && { echo "$call $when: list:"; cat said; }
      what=$(cut -f 3,4 listed | tr '\\t' /); program=$([ -e coffer/Apps/$name ] && coffer/Apps/$name/bin/editor)
      there=$(for place in Containers/$name/Documents/kept Groups/$(cat group); do
        [ -e coffer/$place ] && case $place in C*) printf data,;; *) printf group;; esac; done)
      left=$(ls -A coffer/Apps | grep '^\\.' | grep -v '^.lock$')
      [ -z "$left" ] || echo "$call $when: left behind: $left"
      echo "${what:-none/}/$program/$there" >state
    }
    state; found=$(cat state)
    case " $2 " in *" $found "*) ;; *) echo "$call $when: is $found";; esac
    [ "$found" = "$3" ] || coffer app $1 --key-file key >said 2>&1 || { echo "$call $when: again:"; cat said; }
    state; [ "$(cat state)" = "$3" ] || echo "$call $when: again: is $(cat state)"
    coffer vault verify --key-file key >said 2>&1 || { echo "$call $when: the vault:"; cat said; }
    [ $status = 137 ] || [ $status = 0 ] || echo "$call $when: ended with $status"
    [ $status = 137 ] || exit 3
    """

  static let calls = [
    "mkdirat", "renameat,renameat2", "unlinkat", "fchmod", "fsync", "fdatasync", "write", "pwrite64", "flock",
  ]

  @Test(arguments: Scenario.allCases) func killedAtEveryStep(scenario: Scenario) throws {
    let workspace = try Workspace()
    let before = scenario == .install ? "" : Self.installed
    for script in [Self.preparation, before] where script != "" {
      let prepared = try workspace.run(script: script)
      try #require(prepared.status == 0, "\(prepared.errors)")
    }
    // These calls occur on every file system.
    let mustReach = ["renameat,renameat2", "fsync", "pwrite64"] + (scenario == .remove ? [] : ["mkdirat"])
    let injection = Injection(end: "signal=SIGKILL", calls: Self.calls, mustReach: mustReach)
    let arguments = "set -- '\(scenario.command)' '\(scenario.states)' '\(scenario.last)'"
    let faults = try injection.faults(of: "\(arguments)\n\(Self.checking)", in: workspace)
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }
}
