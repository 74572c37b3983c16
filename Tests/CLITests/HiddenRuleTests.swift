import Testing

/// A pin, a grant or a group whose row is gone or altered: what asks for a list says so, instead of "nothing", and nothing is deleted on the
/// strength of a list that lacks something.
@Suite struct HiddenRuleTests {
  /// Two apps of a team with one group container, and a grant to the command.
  static let preparation = """
    set -e; umask 077; export COFFER_HOME=$W/template
    head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
    team=$(coffer app keygen team.key); echo $team >team
    for app in editor viewer; do
      mkdir -p $app/bin; printf '#!/bin/sh\n' >$app/bin/$app
      cat >$app/manifest <<END
    { Identifier = com.example.$app; DisplayName = $app; Version = 1;
      Executables = ( { Path = bin/$app; } ); "application-groups" = ( "\\$(TEAM).data" ); }
    END
      coffer app sign $app/manifest --key team.key >$app/signed 2>/dev/null
      coffer app install $app/signed --key-file key >/dev/null 2>&1
    done
    coffer app grant com.example.editor default --read --key-file key 2>/dev/null
    echo kept >template/Groups/$team.data/kept
    sqlite3 template/vault.coffer "SELECT hex(id) FROM rec WHERE id<X'01'" >ids
    """

  /// $1 is what happens to a row, $2 the status that each command has to end with.
  static let checking = """
    team=$(cat team)
    for id in $(cat ids); do
      for command in "show com.example.editor" "revoke com.example.editor default" "remove com.example.editor --force"; do
        rm -rf coffer; cp -a template coffer; sqlite3 coffer/vault.coffer "$1 WHERE id=X'$id'"
        coffer app $command --key-file key >said 2>&1
        status=$?; [ $status = $2 ] || { echo "$id: $command: $status"; cat said; }
        [ -e coffer/Groups/$team.data/kept ] || echo "$id: $command: the group's container is gone"
        [ $2 = 0 ] || [ -e coffer/Containers/$team.com.example.editor ] || echo "$id: $command: the app's container is gone"
      done
    done
    wc -l <ids
    """

  /// The last one is the control: of two members one goes, and the container of the group stays.
  @Test(arguments: [
    ("DELETE FROM rec", 9), ("UPDATE rec SET a=zeroblob(length(a))", 9), ("UPDATE rec SET m=zeroblob(16)", 9),
    ("UPDATE rec SET grp=randomblob(16)", 9), ("UPDATE rec SET m='text'", 9), ("UPDATE rec SET m=m", 0),
  ])
  func aListThatLacksARuleIsAnError(edit: String, status: Int) throws {
    let workspace = try Workspace()
    let prepared = try workspace.run(script: Self.preparation)
    try #require(prepared.status == 0, "\(prepared.errors)")
    let outcome = try workspace.run(script: "set -- \"\(edit)\" \(status)\n\(Self.checking)")
    // default, two apps' own groups and the group of both; two pins; a grant.
    #expect(outcome.output == "7\n" && outcome.errors == "", "\(outcome.output)\(outcome.errors)")
  }
}
