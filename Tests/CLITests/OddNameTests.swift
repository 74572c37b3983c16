import Testing

/// Another program has made an item with a name that this one refuses. Each operation on the whole vault goes on, and the item is named
/// with the command that removes it.
@Suite struct OddNameTests {
  private static let reference = #filePath.replacing("CLITests/OddNameTests.swift", with: "Reference")

  @Test func anOddNameStopsNoUpkeep() throws {
    let outcome = try Workspace().run(
      script: """
        umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase; printf x | coffer set a/b --key-file key
        PYTHONPATH=\(Self.reference) python3 - coffer/vault.coffer key <<'end'
        import sys, coffer_format as form, contents
        vault = form.WritableVault(sys.argv[1], form.Credential(key_file=open(sys.argv[2], "rb").read()))
        with vault.write() as change:
            change.add("default", {"class": (contents.INTEGER, 1), "account": (contents.TEXT, "a\\nb"), "service": (contents.TEXT, "x")}, b"s")
        vault.close()
        end
        coffer vault verify --key-file key 2>&1 | sed -n 's/^hint: //p'
        coffer vault backup --verify copy --key-file key >said; echo $?
        printf y | coffer set c/d --key-file key; coffer vault restore copy --force --key-file key >said 2>&1; echo $?
        sqlite3 coffer/vault.coffer "UPDATE rec SET a=zeroblob(length(a)) WHERE id=(SELECT min(id) FROM rec WHERE id>x'01' AND id<x'80')"
        coffer vault repair --force --key-file key >said 2>&1; echo $?
        coffer vault rotate --force --key-file key >said 2>&1; echo $?
        """)
    #expect(
      outcome.output == "an item with such a name can be read, and goes by its id: coffer secret rm --id ID\n0\n0\n0\n0\n",
      "\(outcome.output)\(outcome.errors)")
  }
}
