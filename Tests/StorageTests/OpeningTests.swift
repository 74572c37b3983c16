import Children
import CofferStorage
import Glibc
import Testing
import VaultCore

@Suite struct OpeningTests {
  private func opening(_ fixture: Fixture) -> StorageError.Code? { code { _ = try FileStore(at: fixture.path) } }

  @Test func nothingThere() throws {
    let fixture = try Fixture(withVault: false)
    #expect(opening(fixture) == .noVault)
    #expect(fixture.names == [])
    #expect(code { _ = try FileStore(at: "\(fixture.directory)/no/vault.coffer") } == .noVault)
    #expect(code { _ = try FileStore(at: "\(fixture.directory)/") } == .noVault)
    #expect(code { _ = try FileStore(at: "") } == .noVault)
  }

  @Test(isSuperuser) func otherThingsInItsPlace() throws {
    let fixture = try Fixture(withVault: false)
    run("mkdir", fixture.path)
    #expect(opening(fixture) == .notAVault)
    run("rmdir", fixture.path)
    run("mkfifo", "-m600", fixture.path)
    #expect(opening(fixture) == .notAVault)
    run("rm", fixture.path)
    run("mknod", "-m600", fixture.path, "c", "1", "3")
    #expect(opening(fixture) == .notAVault)
    run("rm", fixture.path)
    fixture.write([])
    #expect(opening(fixture) == .notAVault)
    #expect(fixture.read() == [])
    fixture.write(
      Array("A text, and a long one, that has more than the hundred bytes that the header of a file has in SQLite.".utf8))
    #expect(opening(fixture) == .notAVault)
  }

  @Test func aFileThatBelongsToSQLiteButNotToUs() throws {
    let fixture = try Fixture(withVault: false)
    fixture.raw("CREATE TABLE hdr(x)")
    run("chmod", "600", fixture.path)
    #expect(opening(fixture) == .notAVault)
  }

  @Test func symbolicLinks() throws {
    let fixture = try Fixture()
    run("mv", fixture.path, "\(fixture.directory)/other")
    run("ln", "-s", "\(fixture.directory)/other", fixture.path)
    #expect(opening(fixture) == .symbolicLink)
    // A link to the directory is another matter: a home directory may be one.
    run("mv", "\(fixture.directory)/other", fixture.path)
    run("ln", "-s", fixture.directory, "\(fixture.directory)/link")
    let store = try FileStore(at: "\(fixture.directory)/link/vault.coffer")
    #expect(store.path == fixture.path)
    #expect(try store.recordCount() == 3)
  }

  @Test(isSuperuser, arguments: ["-wal", "-shm", "-journal"])
  func plantedSideFiles(suffix: String) throws {
    let fixture = try Fixture()
    run("ln", "-s", "/etc/passwd", "\(fixture.path)\(suffix)")
    #expect(opening(fixture) == .symbolicLink)
    run("rm", "\(fixture.path)\(suffix)")
    Fixture.write([], to: "\(fixture.path)\(suffix)")
    run("chown", "65534", "\(fixture.path)\(suffix)")
    #expect(opening(fixture) == .foreignOwner)
  }

  @Test(isSuperuser) func plantedLockFiles() throws {
    let fixture = try Fixture()
    let lock = "\(fixture.path).lock"
    let store = try FileStore(at: fixture.path)
    func committing() -> StorageError.Code? { code { try store.commit { _ in Fixture.adding(4) } } }
    run("ln", "-sf", "/etc/passwd", lock)
    #expect(committing() == .symbolicLink)
    run("rm", lock)
    run("mkfifo", "-m600", lock)
    #expect(committing() == .notAFile)
    run("rm", lock)
    Fixture.write([], to: lock, mode: 0o666)
    #expect(committing() == .permissionsTooOpen)
    run("chmod", "600", lock)
    run("chown", "65534", lock)
    #expect(committing() == .foreignOwner)
    run("rm", lock)
    #expect(committing() == nil)
    // Removed while it is in use: made again.
    run("rm", lock)
    #expect(committing() == nil)
    #expect(fixture.names.contains("vault.coffer.lock"))
  }

  @Test(isSuperuser) func owners() throws {
    let fixture = try Fixture()
    run("chown", "65534", fixture.path)
    #expect(opening(fixture) == .foreignOwner)
    run("chown", "0", fixture.path)
    run("chown", "65534", fixture.directory)
    #expect(opening(fixture) == .foreignOwner)
    // Root's vault, for others to read.
    run("chown", "0", fixture.directory)
    run("chmod", "755", fixture.directory)
    run("chmod", "644", fixture.path)
    #expect(run(probe, "as", "65534", "read", fixture.path) == ["ok 3"])
    #expect(run(probe, "as", "65534", "add", fixture.path).first == "readOnly")
    run("chown", "1000", fixture.path)
    #expect(run(probe, "as", "65534", "read", fixture.path).first == "foreignOwner")
    run("chown", "0", fixture.path)
    run("chmod", "600", fixture.path)
    #expect(run(probe, "as", "65534", "read", fixture.path).first == "accessDenied")
    run("chmod", "700", fixture.directory)
    #expect(run(probe, "as", "65534", "read", fixture.path).first == "accessDenied")
  }

  @Test func permissions() throws {
    let fixture = try Fixture()
    for mode in ["660", "602", "622"] {
      run("chmod", mode, fixture.path)
      #expect(opening(fixture) == .permissionsTooOpen)
    }
    run("chmod", "600", fixture.path)
    for mode in ["770", "702", "777"] {
      run("chmod", mode, fixture.directory)
      #expect(opening(fixture) == .permissionsTooOpen)
    }
    run("chmod", "1777", fixture.directory)
    #expect(opening(fixture) == nil)
  }

  @Test(arguments: ["000", "077", "777"]) func modesDoNotDependOnTheUmask(umask: String) throws {
    let fixture = try Fixture(withVault: false)
    let path = "\(fixture.directory)/a/b/vault.coffer"
    #expect(run(probe, "umask", umask, "create", path, "directory") == ["ok"])
    let holder = Child([probe, "umask", umask, "hold", path])
    #expect(holder.line() == "ok holding")
    #expect(
      run(
        "sh", "-c", "stat -c '%n %a' \(fixture.directory)/a \(fixture.directory)/a/b \(fixture.directory)/a/b/* | sed 's|.*/||'")
        == [
          "a 700", "b 700", "vault.coffer 600", "vault.coffer-shm 600", "vault.coffer-wal 600", "vault.coffer.lock 600",
        ])
  }

  @Test func truncated() throws {
    let fixture = try Fixture()
    let whole = fixture.read()
    #expect(whole.count % 4096 == 0)
    let lengths = Array(stride(from: 0, to: whole.count, by: 61)) + [1, 15, 16, 99, 100, 4095, 4096, 8192, whole.count - 1]
    for length in lengths where length < whole.count {
      fixture.write(Array(whole[..<length]))
      let failure = opening(fixture)
      // Without the whole of its file header, nothing says what it was.
      #expect(failure == (length < 100 ? .notAVault : .storageDamaged), "\(length) bytes")
      #expect(fixture.read().count == length)
    }
    fixture.write(whole + [0])
    #expect(opening(fixture) == .storageDamaged)
    fixture.write(whole)
    #expect(opening(fixture) == nil)
  }

  @Test(
    arguments: [
      (16, 0x20, .notAVault), (18, 3, .storageDamaged), (19, 3, .storageDamaged), (20, 1, .storageDamaged),
      (55, 1, .storageDamaged),
      (59, 2, .storageDamaged),
    ] as [(Int, UInt8, StorageError.Code)])
  func headersThatNoVaultHas(offset: Int, value: UInt8, expected: StorageError.Code) throws {
    let fixture = try Fixture()
    var bytes = fixture.read()
    bytes[offset] = value
    fixture.write(bytes)
    #expect(opening(fixture) == expected)
  }

  @Test func damagedPages() throws {
    let fixture = try Fixture()
    var bytes = fixture.read()
    for offset in 4096..<bytes.count { bytes[offset] = 0xA5 }
    fixture.write(bytes)
    #expect(code { _ = try FileStore(at: fixture.path).recordCount() } == .storageDamaged)
  }

  @Test func replacedOrRemovedWhileOpen() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    run("cp", "-p", fixture.path, "\(fixture.path).copy")
    run("mv", "\(fixture.path).copy", fixture.path)
    #expect(code { try store.commit { _ in Fixture.adding(4) } } == .replaced)
    #expect(code { _ = try store.recordCount() } == .replaced)
    #expect(try FileStore(at: fixture.path).recordCount() == 3)
    run("rm", fixture.path)
    #expect(code { _ = try store.recordCount() } == .replaced)
    #expect(!fixture.names.contains("vault.coffer"))
  }

  @Test func openingInOneThreadKeepsTheLocksOfAnother() throws {
    // Closing any descriptor of a file drops the process's POSIX locks on it, those that SQLite counts on too.
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path, busyTimeout: .seconds(1), withRollbackJournal: true)
    try store.read { _ in
      _ = try FileStore(at: fixture.path, busyTimeout: .seconds(1), withRollbackJournal: true).recordCount()
      #expect(run("sh", "-c", "grep -c $(stat -c :%i \(fixture.path)) /proc/locks") == ["1"])
    }
  }

  @Test func noDescriptorsLeft() throws {
    let fixture = try Fixture()
    #expect(run(probe, "descriptors", fixture.path, "3").first == "descriptorsExhausted")
    #expect(run(probe, "descriptors", fixture.path, "32").first == "ok 3")
  }
}
