import CofferFiles
import Glibc
import Testing

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
