import Testing

/// A record with a column of another type or length is one damaged record: each other one is looked at, and listed.
@Suite struct ColumnTests {
  static let preparation = """
    set -e; umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
    for name in a b c d e; do printf $name | coffer secret set mail/$name --key-file key; done
    """

  /// Damages item b, within the generation that is written in its row. c is damaged in another way.
  static let checking = """
    rm -rf edited; cp -a coffer edited; COFFER_HOME=$W/edited
    sqlite3 edited/vault.coffer "UPDATE rec SET $EDIT WHERE hex(m) LIKE '%0300000000000000'"
    sqlite3 edited/vault.coffer "UPDATE rec SET a=zeroblob(length(a)) WHERE hex(m) LIKE '%0400000000000000'"
    coffer secret list --key-file key 2>errors | cut -f 1; coffer secret list --key-file key >/dev/null 2>&1; echo $?
    head -1 errors
    coffer vault verify --json --key-file key 2>/dev/null | grep -o '"code":"[a-zA-Z]*"' | sort
    coffer vault verify --key-file key >/dev/null 2>&1; echo $?
    coffer secret get mail/b --key-file key >/dev/null 2>&1; echo $?
    coffer secret rm mail/b --force --key-file key >/dev/null 2>&1; coffer secret rm mail/c --force --key-file key >/dev/null 2>&1
    coffer secret list --key-file key | cut -f 1 | tr '\n' ' '
    """

  @Test(arguments: [
    "m='text'", "m=zeroblob(15)", "grp=7", "grp=zeroblob(3000000)", "a='text'", "a=zeroblob(3000000)", "d=zeroblob(31)", "d=1.5",
    "s='text'", "s=zeroblob(1052713)", "s=zeroblob(3000000)",
  ])
  func eachOtherRecordIsLookedAt(edit: String) throws {
    let found = try run(edit)
    #expect(
      found == """
        mail/a
        mail/d
        mail/e
        9
        coffer: 2 records damaged, and not shown
        "code":"columnMismatch"
        "code":"recordForged"
        9
        9
        mail/a mail/d mail/e\u{20}
        """)
  }

  /// The row is not that of an item any more.
  @Test(arguments: ["id=7", "id=zeroblob(17)", "id=X'01'", "id=CAST(hex(id) AS TEXT)", "id=zeroblob(3000000)"])
  func aRowWithoutANameHidesNoOther(edit: String) throws {
    let found = try run(edit)
    #expect(
      found == """
        mail/a
        mail/d
        mail/e
        9
        coffer: 2 records damaged, and not shown
        "code":"columnMismatch"
        "code":"recordForged"
        "code":"recordMissing"
        9
        9
        mail/a mail/d mail/e\u{20}
        """)
  }

  private func run(_ edit: String) throws -> String {
    let workspace = try Workspace()
    let prepared = try workspace.run(script: Self.preparation)
    try #require(prepared.status == 0, "\(prepared.errors)")
    let outcome = try workspace.run(script: "EDIT=\"\(edit)\"\n\(Self.checking)")
    #expect(outcome.errors == "")
    return outcome.output
  }
}
