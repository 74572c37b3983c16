import Children
import CofferFiles
import CofferLifecycle
import CofferStorage
import CofferTesting
import Glibc
import SecretMemory
import Testing
import VaultCore

/// A directory for one test, removed with it.
final class Fixture {
  let directory: String
  var path: String { "\(directory)/vault.coffer" }
  var backups: BackupDirectory { BackupDirectory(at: "\(directory)/backups") }

  init() {
    var template = Array("/tmp/coffer-lifecycle-XXXXXX".utf8CString)
    precondition(unsafe mkdtemp(&template) != nil)
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { run("rm", "-rf", directory) }

  /// Makes a vault with items `item/0` and so on, in one commit.
  func makeVault(items count: Int = 3, secret: String = "secret") throws {
    var vault = try Vault.throwAway(in: FileStore.create(at: path))
    try vault.transaction { transaction in
      for index in 0..<count {
        try transaction.add(Item(service: "item", account: "\(index)"), secret: Secret(testing: secret), at: .test)
      }
    }
    try vault.close()
  }

  func open(_ file: String? = nil) throws -> Vault { try .openThrowAway(FileStore(at: file ?? path)) }

  /// Adds an item.
  func change() throws {
    var vault = try open()
    try vault.add(Item(service: "new", account: "\(try vault.status().generation)"), secret: Secret(testing: "x"), at: .test)
    try vault.close()
  }

  func names(_ directory: String? = nil) -> [String] { run("ls", "-A", directory ?? self.directory).sorted() }

  func backup(at time: Int64 = 0, step: Backup.Step = { _, _ in }) throws -> Backup {
    try Backup.make(
      of: FileStore(at: path), at: .directory(backups), now: Timestamp(secondsSince1970: 1_700_000_000 + time), step: step)
  }

  /// Copies of a backup with names of later times and generations.
  func makeLaterBackups(_ count: Int, of backup: String) throws {
    for number in 1...count {
      let time = Timestamp(secondsSince1970: 1_700_000_000 + Int64(number) * 100_000)
      run("cp", backup, backups.path(of: BackupName(time: time, generation: 9000 + UInt64(number))))
    }
  }
}
