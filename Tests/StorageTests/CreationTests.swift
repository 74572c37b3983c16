import Children
import CofferStorage
import Glibc
import SecretMemory
import Testing
import VaultCore

@Suite struct CreationTests {
  @Test func nothingIsThereBeforeTheFirstCommit() throws {
    struct Own: Error {}
    let fixture = try Fixture(withVault: false)
    let store = try FileStore.create(at: fixture.path)
    #expect(try store.recordCount() == 0)
    try store.commit { _ in Change() }
    #expect(throws: Own.self) { try store.commit { _ in throw Own() } }
    #expect(!fixture.names.contains("vault.coffer"))
    try store.commit { _ in Fixture.change }
    #expect(try store.recordCount() == 3)
    try store.commit { _ in Fixture.adding(4) }
    #expect(try FileStore(at: fixture.path).recordCount() == 4)
    #expect(fixture.names.contains("vault.coffer"))
  }

  @Test func aChangeThatFailsLeavesNothing() throws {
    let fixture = try Fixture(withVault: false)
    let store = try FileStore.create(at: fixture.path)
    var change = Fixture.change
    change.header[0] = Array(repeating: 1, count: 257)
    #expect(code { try store.commit { _ in change } } == .columnMismatch)
    #expect(fixture.names == ["vault.coffer.lock"])
  }

  @Test func theFileIsWhatTheFormatSays() throws {
    let fixture = try Fixture()
    #expect(
      run("sqlite3", fixture.path, "PRAGMA page_size; PRAGMA application_id; PRAGMA user_version; PRAGMA integrity_check") == [
        "4096", "1128683058", "1", "ok",
      ])
    #expect(
      run("sqlite3", fixture.path, "SELECT sql FROM sqlite_schema ORDER BY name") == [
        "CREATE TABLE hdr(k INTEGER PRIMARY KEY,v BLOB NOT NULL)",
        "CREATE TABLE node(p BLOB PRIMARY KEY,b BLOB NOT NULL) WITHOUT ROWID",
        "CREATE TABLE rec(id BLOB PRIMARY KEY,grp BLOB NOT NULL,m BLOB NOT NULL,a BLOB NOT NULL,d BLOB NOT NULL,s BLOB NOT NULL) "
          + "WITHOUT ROWID",
      ])
  }

  @Test func aVaultIsNeverReplaced() throws {
    let fixture = try Fixture(withVault: false)
    let first = try FileStore.create(at: fixture.path)
    let second = try FileStore.create(at: fixture.path)
    try first.commit { _ in Fixture.change }
    #expect(code { try second.commit { _ in Fixture.adding(9) } } == .vaultExists)
    #expect(code { _ = try FileStore.create(at: fixture.path) } == .vaultExists)
    #expect(try FileStore(at: fixture.path).recordCount() == 3)
    #expect(fixture.names.filter { $0.contains(".new") } == [])
  }

  @Test(arguments: ["", "-wal", "-journal", "-shm"])
  func remainsOfAVaultAreNotOverwritten(suffix: String) throws {
    let fixture = try Fixture(withVault: false)
    Fixture.write([1], to: "\(fixture.path)\(suffix)")
    let expected: StorageError.Code = suffix == "" ? .vaultExists : .logWithoutVault
    #expect(code { _ = try FileStore.create(at: fixture.path) } == expected)
    if suffix != "" { #expect(code { _ = try FileStore(at: fixture.path) } == expected) }
    #expect(fixture.names == ["vault.coffer\(suffix)"])
    run("rm", "\(fixture.path)\(suffix)")
    run("ln", "-s", "/nowhere", "\(fixture.path)\(suffix)")
    #expect(code { _ = try FileStore.create(at: fixture.path) } == expected)
  }

  @Test(isSuperuser) func directories() throws {
    let fixture = try Fixture(withVault: false)
    let path = "\(fixture.directory)/a/b/vault.coffer"
    #expect(code { _ = try FileStore.create(at: path) } == .noVault)
    #expect(fixture.names == [])
    try FileStore.create(at: path, createDirectory: true).commit { _ in Fixture.change }
    #expect(try FileStore(at: path).recordCount() == 3)
    run("chmod", "777", fixture.directory)
    #expect(code { _ = try FileStore.create(at: fixture.path) } == .permissionsTooOpen)
    run("chown", "65534", fixture.directory)
    #expect(code { _ = try FileStore.create(at: fixture.path) } == .foreignOwner)
  }

  @Test func leftoversAreHarmlessAndRemoved() throws {
    let fixture = try Fixture(withVault: false)
    let names = [".vault.coffer.0123456789abcdef.new", ".vault.coffer.notours.new", ".other.0123456789abcdef.new"]
    for name in names { Fixture.write([1], to: "\(fixture.directory)/\(name)") }
    #expect(code { _ = try FileStore(at: fixture.path) } == .noVault)
    try FileStore.create(at: fixture.path).commit { _ in Fixture.change }
    #expect(fixture.names.filter { $0.hasSuffix(".new") } == names.dropFirst().sorted())
  }

  @Test func killedAtEverySystemCallThatChangesTheDirectory() throws {
    // Either there is no vault, or it is whole.
    for (call, count) in [("openat", 12), ("pwrite64", 12), ("fsync", 3), ("renameat2", 1), ("unlink", 2)] {
      for number in 1...count {
        let fixture = try Fixture(withVault: false)
        run(
          "strace", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(number)", probe,
          "create", fixture.path)
        let failure = code {
          try FileStore(at: fixture.path).read { rows in
            let header = try rows.header(0)
            #expect(header?.count == 256)
          }
        }
        #expect(failure == nil || failure == .noVault, "\(call) \(number)")
        if failure == .noVault { try FileStore.create(at: fixture.path).commit { _ in Fixture.change } }
      }
    }
  }

  @Test func failuresBeforeAndAfterTheNameIsGiven() throws {
    func creating(_ injection: String) throws -> (code: String?, names: [String]) {
      let fixture = try Fixture(withVault: false)
      let call = injection.prefix { $0 != ":" }
      let lines = run(
        "strace", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(injection)", probe, "create", fixture.path)
      return (lines.first, fixture.names.filter { $0 != "vault.coffer.lock" })
    }
    var result = try creating("fsync:error=EIO:when=1")
    #expect(result.code == "io" && result.names == [])
    result = try creating("fsync:error=ENOSPC:when=1")
    #expect(result.code == "full" && result.names == [])
    result = try creating("fsync:error=EIO:when=2")
    #expect(result.code == "inDoubt" && result.names == ["vault.coffer"])
    result = try creating("renameat2:error=EACCES:when=1")
    #expect(result.code == "accessDenied" && result.names == [])
    // A file system without RENAME_NOREPLACE.
    result = try creating("renameat2:error=EINVAL:when=1")
    #expect(result.code == "ok" && result.names == ["vault.coffer"])
  }
}
