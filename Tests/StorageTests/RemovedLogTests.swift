import Children
import Glibc
import Testing

@testable import CofferStorage

/// SQLite removes the log as the last connection closes. This may happen between two calls of another process, which opens the vault.
@Suite struct RemovedLogTests {
  private static let remover = """
    import os, sys
    os.umask(0o077)
    print("ready", flush=True)
    while True:
      os.close(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY))
      os.unlink(sys.argv[1])
    """

  @Test func aFileThatIsRemovedWhileItIsOpenedIsNotThere() throws {
    let fixture = try Fixture(withVault: false)
    let path = "\(fixture.directory)/vault.coffer-wal"
    let child = Child(["python3", "-c", Self.remover, path])
    defer { child.signal(SIGKILL) }
    #expect(child.line() == "ready")
    var (met, missed) = (0, 0)
    // Both states have been seen often, and so has the change from one to the other.
    while min(met, missed) < 20_000 {
      if try SmallFile.open(path) == nil { missed += 1 } else { met += 1 }
    }
  }
}
