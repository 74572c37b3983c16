import Children
import CofferFiles
import CofferStorage
import Glibc
import Testing
import VaultCore

@testable import CofferLifecycle

/// A backup whose descriptor another process has sent.
@Suite struct SentBackupTests {
  private let scene: RestoreScene

  init() throws { scene = try RestoreScene(items: 20, secret: String(repeating: "x", count: 100_000)) }

  private func staged(_ file: File<StorageError>, step: @escaping Backup.Step = { _, _ in }) throws -> ForeignVault {
    try ForeignVault(copiedFrom: file, besides: scene.fixture.path, in: scene.fixture.backups, step: step)
  }

  /// Whether nothing is left of a copy that was not completed.
  private func expectNothingLeft(_ place: SourceLocation = #_sourceLocation) {
    #expect(scene.fixture.names(scene.fixture.backups.path).isEmpty, sourceLocation: place)
  }

  @Test func itIsCopiedFromTheBeginning() throws {
    let file = try File<StorageError>(scene.backup, O_RDONLY)
    lseek(file.number, 5000, SEEK_SET)
    #expect(try staged(file).slotTypes().count == 1)
    // The position belongs to the process that has opened it, too.
    #expect(lseek(file.number, 0, SEEK_CUR) == 5000)
  }

  @Test func aFileThatGrowsWhileItIsReadIsNoBackup() throws {
    let more = try File<StorageError>(scene.backup, O_WRONLY | O_APPEND)
    #expect(throws: StorageError(.io)) {
      _ = try staged(File(scene.backup, O_RDONLY)) { _, _ in try more.write([1]) }
    }
    expectNothingLeft()
  }

  @Test func aFileThatShrinksWhileItIsReadIsNoBackup() throws {
    let backup = scene.backup
    #expect(throws: StorageError(.io)) {
      _ = try staged(File(backup, O_RDONLY)) { done, _ in unsafe truncate(backup, off_t(done)) }
    }
    expectNothingLeft()
  }

  @Test func aFileThatClaimsMoreThan64GiBIsNotRead() throws {
    try #require(unsafe truncate(scene.backup, off_t(UnnamedVault.maximumByteCount) + 1) == 0)
    #expect(throws: StorageError(.tooLarge)) { _ = try staged(File(scene.backup, O_RDONLY)) }
    expectNothingLeft()
  }

  @Test func theVaultItselfIsNoBackup() throws {
    #expect(throws: LifecycleError(.isTheVault)) { _ = try staged(File(scene.fixture.path, O_RDONLY)) }
  }

  @Test(arguments: ["/dev/zero", "/tmp", "/proc/self/status"]) func whatIsNoVaultIsNotRead(path: String) throws {
    #expect(throws: StorageError(.notAVault)) { _ = try staged(File(path, O_RDONLY)) }
  }

  @Test func aDescriptorThatCannotBeReadIsAnError() throws {
    #expect(throws: StorageError(.io)) { _ = try staged(File(scene.backup, O_WRONLY)) }
    expectNothingLeft()
  }
}
