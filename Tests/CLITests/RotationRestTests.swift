import Testing

/// The bytes of a vault's file after a rotation.
@Suite struct RotationRestTests {
  private static let script = """
    umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
    i=0; while [ $i -lt 1500 ]; do printf 'VAR%d=%0*d\\n' $i $((i * 37 % 900 + 10)) 0; i=$((i + 1)); done >env
    coffer import dotenv env --key-file key >said 2>&1 || cat said
    cp coffer/vault.coffer old
    coffer vault rotate --force --key-file key >said 2>&1 || cat said
    cat >rests.py <<'PYTHON'
    import sqlite3, sys
    parts = set()
    for row in sqlite3.connect("old").execute("SELECT a, s FROM rec"):
        for box in row:
            parts.update(box[i:i + 16] for i in range(0, len(box) - 16, 16))
    with open(sys.argv[1], "rb") as file:
        now = file.read()
    print(len(parts) > 50000, sum(now[i:i + 16] in parts for i in range(len(now) - 15)))
    PYTHON
    """

  /// Boxes of secrets are random bytes: a part of 16 bytes that is found again is one of the old box.
  @Test func noPartOfAnOldBoxIsLeft() throws {
    let outcome = try Workspace().run(script: "\(Self.script)\npython3 rests.py coffer/vault.coffer")
    #expect(outcome.output == "True 0\n" && outcome.errors == "", "\(outcome.output)\(outcome.errors)")
  }

  /// SQLite builds the new pages in the directory for temporary files, which has no room: all rows are under new keys, and the note says why
  /// the file is not.
  @Test func aFullDiskIsNamed() throws {
    let workspace = try Workspace()
    let vault = Self.script.replacing("coffer vault rotate --force --key-file key >said 2>&1 || cat said", with: "mkdir small")
    _ = try workspace.run(script: vault)
    guard try workspace.run(script: "unshare -Urm mount -t tmpfs none small").status == 0 else {
      return print("coffer: no file system can be mounted here")
    }
    let outcome = try workspace.run(
      script: """
        unshare -Urm sh -c 'mount -t tmpfs -o size=64k,mode=700 none small
          SQLITE_TMPDIR=$W/small coffer vault rotate --force --key-file key >said 2>&1; echo $?'
        grep -c 'could not be written anew (no room on the disk); another coffer vault rotate does so' said
        coffer vault verify --key-file key; coffer vault rotate --force --key-file key 2>&1 | grep -c 'written anew'
        python3 rests.py coffer/vault.coffer
        """)
    #expect(outcome.output == "0\n1\n1501 records, all sound\n0\nTrue 0\n" && outcome.errors == "", "\(outcome)")
  }

  /// The file for the new pages cannot be made. SQLite does not say what has failed, so nothing more is written on that connection: the one
  /// of the rotation goes on, and brings in the log.
  @Test func aFailedRebuildIsNoFailedRotation() throws {
    let vault = Self.script.replacing(
      "coffer vault rotate --force --key-file key >said 2>&1 || cat said", with: "cp -a coffer template")
    let outcome = try Workspace().run(
      script: """
        \(vault)
        rotate='coffer vault rotate --force --key-file key'
        strace -f -qq -o trace -e trace=openat $rotate >said 2>&1 || cat said
        process=$(grep -m 1 etilqs trace | cut -d ' ' -f 1)
        number=$(grep "^$process " trace | grep -n -m 1 etilqs | cut -d : -f 1)
        rm -rf coffer; mv template coffer
        strace -f -qq -o trace -e trace=openat -e inject=openat:error=EIO:when=$number $rotate >said 2>&1; echo $?
        grep INJECTED trace | grep -c etilqs; grep -c 'could not be written anew' said; coffer vault verify --key-file key
        """)
    #expect(outcome.output == "0\n1\n1\n1501 records, all sound\n" && outcome.errors == "", "\(outcome)")
  }

  /// The control.
  @Test func partsAreFoundInTheOldFile() throws {
    let outcome = try Workspace().run(script: "\(Self.script)\npython3 rests.py old")
    #expect(outcome.output.hasPrefix("True ") && outcome.output != "True 0\n", "\(outcome.output)\(outcome.errors)")
  }
}
