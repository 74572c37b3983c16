import Children
import CofferFiles
import Glibc
import Testing
import Waiting

@testable import CofferStorage

@Suite struct MaintenanceLockTests {
  @Test func oneOperationAtATimeHasAVault() throws {
    let fixture = try Fixture()
    #expect(try !MaintenanceLock.isHeld(forVaultAt: fixture.path))
    do {
      let holder = try MaintenanceLock(forVaultAt: fixture.path)
      #expect(code { _ = try MaintenanceLock(forVaultAt: fixture.path) } == .maintenance)
      #expect(code { _ = try MaintenanceLock(forVaultAt: fixture.directory + "/./vault.coffer") } == .maintenance)
      #expect(try MaintenanceLock.isHeld(forVaultAt: fixture.path))
      _ = try MaintenanceLock(forVaultAt: fixture.directory + "/another")
      withExtendedLifetime(holder) {}
    }
    #expect(try !MaintenanceLock.isHeld(forVaultAt: fixture.path))
    _ = try MaintenanceLock(forVaultAt: fixture.path)
  }

  /// A child that has not begun its program yet has the descriptors of its parent, as a duplicate has: the lock goes when its holder does.
  @Test func aDuplicateOfItsFileDoesNotKeepIt() throws {
    let fixture = try Fixture()
    var holder: MaintenanceLock? = try MaintenanceLock(forVaultAt: fixture.path)
    let number = try #require((0..<4096).first { Self.path(of: $0) == fixture.path + ".lock" })
    let duplicate = dup(number)
    defer { close(duplicate) }
    #expect(try duplicate >= 0 && holder != nil && MaintenanceLock.isHeld(forVaultAt: fixture.path))
    holder = nil
    #expect(try !MaintenanceLock.isHeld(forVaultAt: fixture.path))
    _ = try MaintenanceLock(forVaultAt: fixture.path)
  }

  /// The path of the file that a descriptor of this process has open.
  private static func path(of descriptor: Int32) -> String? {
    var bytes = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/fd/\(descriptor)", &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// A lock without a vault, as a restore to a new place takes it: the file goes with it, unless it was there before or the vault is there.
  @Test func theFileOfALockStaysOnlyBesideAVault() throws {
    let fixture = try Fixture(withVault: false)
    _ = try MaintenanceLock(forVaultAt: fixture.path)
    #expect(fixture.names == [])
    do {
      let holder = try MaintenanceLock(forVaultAt: fixture.path)
      fixture.write([1])
      withExtendedLifetime(holder) {}
    }
    #expect(fixture.names == ["vault.coffer", "vault.coffer.lock"])
    unsafe unlink(fixture.path)
    _ = try MaintenanceLock(forVaultAt: fixture.path)
    #expect(fixture.names == ["vault.coffer.lock"])
  }

  /// Between its opening and its locking, the file is removed by the process that has made it. A lock on a removed file excludes no other
  /// process.
  @Test func aFileThatIsRemovedMeanwhileIsNotHeld() throws {
    let fixture = try Fixture(withVault: false)
    var first: MaintenanceLock? = try MaintenanceLock(forVaultAt: fixture.path)
    let log = "\(fixture.directory)/trace"
    let child = Child([
      "strace", "-f", "-o", log, "-P", "\(fixture.path).lock", "-e", "trace=openat", "-e",
      "inject=openat:signal=SIGSTOP:when=1", probe, "hold-for-maintenance", fixture.path,
    ])
    var stopped: String?
    try wait(for: "a process that has opened the lock file") {
      let trace = fixture.names.contains("trace") ? String(decoding: Fixture.read(log), as: UTF8.self) : ""
      stopped = trace.split(separator: "\n").first { $0.contains("stopped by SIGSTOP") }.map(String.init)
      return stopped != nil
    }
    #expect(first != nil)
    first = nil
    #expect(!fixture.names.contains("vault.coffer.lock"))
    let process = try #require(stopped?.split(separator: " ").first.flatMap { Int32($0) })
    kill(process, SIGCONT)
    #expect(child.line() == "ok holding")
    #expect(code { _ = try MaintenanceLock(forVaultAt: fixture.path) } == .maintenance)
    kill(process, SIGKILL)
  }

  @Test func writersGoOnBesideIt() throws {
    let fixture = try Fixture()
    let holder = try MaintenanceLock(forVaultAt: fixture.path)
    let store = try FileStore(at: fixture.path, busyTimeout: .milliseconds(100))
    try store.commit { _ in Fixture.adding(4) }
    #expect(try store.recordCount() == 4)
    store.rest()
    #expect(code { _ = try MaintenanceLock(forVaultAt: fixture.path) } == .maintenance, "a writer has released it")
    withExtendedLifetime(holder) {}
  }

  @Test func theLockFileIsCheckedAsTheWritersCheckIt() throws {
    let fixture = try Fixture()
    unsafe unlink(fixture.path + ".lock")
    unsafe symlink("elsewhere", fixture.path + ".lock")
    #expect(code { _ = try MaintenanceLock(forVaultAt: fixture.path) } == .symbolicLink)
    #expect(code { _ = try MaintenanceLock(forVaultAt: fixture.directory + "/missing/vault.coffer") } == .noVault)
  }
}
