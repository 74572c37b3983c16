import CSQLite
import Children
import CofferStorage
import Glibc
import SecretMemory
import Testing

@Suite struct ErrorTests {
  @Test(
    arguments: [
      (SQLITE_BUSY, 0, .busy), (SQLITE_BUSY | 2 << 8, 0, .busy), (SQLITE_LOCKED, 0, .busy), (SQLITE_PROTOCOL, 0, .busy),
      (SQLITE_FULL, 0, .full), (SQLITE_NOMEM, 0, .outOfMemory), (SQLITE_NOTADB, 0, .storageDamaged),
      (SQLITE_CORRUPT, 0, .storageDamaged),
      (SQLITE_CORRUPT | 3 << 8, 0, .storageDamaged), (SQLITE_SCHEMA, 0, .schemaAltered), (SQLITE_TOOBIG, 0, .columnMismatch),
      (SQLITE_PERM, 0, .accessDenied), (SQLITE_AUTH, 0, .accessDenied), (SQLITE_READONLY, 0, .readOnly),
      (SQLITE_READONLY | 6 << 8, 0, .readOnly), (SQLITE_READONLY | 4 << 8, 0, .replaced),
      (SQLITE_CANTOPEN | 6 << 8, 0, .symbolicLink),
      (SQLITE_CANTOPEN, EMFILE, .descriptorsExhausted), (SQLITE_CANTOPEN, ENOSPC, .full), (SQLITE_CANTOPEN, EACCES, .readOnly),
      (SQLITE_CANTOPEN, EROFS, .readOnly), (SQLITE_CANTOPEN, ENOMEM, .outOfMemory), (SQLITE_CANTOPEN, 0, .io),
      (SQLITE_IOERR | 3 << 8, EDQUOT, .full), (SQLITE_IOERR | 3 << 8, EIO, .io), (SQLITE_IOERR | 3 << 8, EACCES, .io),
      (SQLITE_IOERR | 4 << 8, EIO, .io), (SQLITE_IOERR | 19 << 8, ENOSPC, .full), (SQLITE_IOERR | 12 << 8, 0, .outOfMemory),
      (SQLITE_IOERR | 2 << 8, 0, .storageDamaged), (SQLITE_IOERR | 33 << 8, EIO, .io), (SQLITE_MISUSE, 0, .io),
    ] as [(Int32, Int32, StorageError.Code)])
  func resultsOfSQLite(result: Int32, number: Int32, expected: StorageError.Code) {
    #expect(StorageError(sqlite: result, errno: number, "").code == expected)
  }

  @Test func matching() {
    let error: any Error = StorageError(.busy, "one detail")
    #expect(StorageError(.busy, "another") == StorageError(.busy))
    #expect(StorageError(.busy) != StorageError(.full))
    do { throw error } catch StorageError(.busy) {} catch { Issue.record("not matched") }
    #expect(StorageError(.full, "vault").description == "full: vault")
  }

  /// The n-th call of a kind fails. Whatever comes of it, it has a code of its own, and what was acknowledged is there.
  @Test(arguments: [
    ("openat", "ENOMEM", ["outOfMemory", "io", "readOnly"]), ("openat", "EMFILE", ["descriptorsExhausted", "io", "readOnly"]),
    ("openat", "EIO", ["io", "readOnly"]),
    ("pwrite64", "EDQUOT", ["full", "io", "inDoubt"]), ("pwrite64", "EIO", ["io", "inDoubt"]), ("pwrite64", "ENOSPC", ["full"]),
    ("pread64", "EIO", ["io", "storageDamaged", "inDoubt"]), ("fcntl", "EIO", ["io", "busy", "inDoubt"]),
    ("fcntl", "ENOLCK", ["io", "busy", "inDoubt"]),
    ("ftruncate", "EIO", ["io", "inDoubt"]), ("mmap", "ENOMEM", ["outOfMemory", "io", "inDoubt"]),
    ("unlink", "EIO", ["io", "inDoubt"]),
    ("newfstatat", "EIO", ["io", "replaced", "inDoubt"]),
  ])
  func injected(call: String, number: String, expected: [String]) throws {
    let fixture = try Fixture()
    for withJournal in [false, true] {
      var seen: Set<String> = []
      for count in 1...12 {
        let before = try FileStore(at: fixture.path).recordCount()
        // Only calls on our own files: the loader's are not ours.
        var command = [
          "strace", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):error=\(number):when=\(count)",
        ]
        for suffix in ["", "-wal", "-shm", "-journal", ".lock"] { command += ["-P", fixture.path + suffix] }
        let lines = Child(command + [probe, withJournal ? "add-with-journal" : "add", fixture.path]).lines()
        let after = try FileStore(at: fixture.path).recordCount()
        let first = lines.first ?? "died"
        switch first {
        case "ok": #expect(after == before + 1, "\(call) \(count)")
        case "inDoubt": #expect(after - before <= 1 && after >= before)
        default: #expect(after == before, "\(call) \(count) \(first)")
        }
        seen.insert(first)
      }
      #expect(seen.isSubset(of: Set(expected + ["ok"])), "\(call) \(number) \(withJournal): \(seen)")
    }
  }
}
