import Coffer
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferWire
import Glibc
import SecretMemory
import VaultCore

extension SystemVault {
  func backupState() throws -> BackupState? {
    do {
      return try keychain.vaultStatus().backups
    } catch KeychainError.Code.noVault {
      return nil
    } catch {
      Descriptor.error.note("note: \(Failure(error, about: name).message.escapingControls())\n")
      return nil
    }
  }

  /// The agent copies, and hands the copy on if it is not for its own directory: it writes to no file of its user's.
  func backUp(to file: String?, isVerified: Bool) throws -> VaultBackupReport {
    if let file, file != "-" { try about(file) { try Backup.checkFree(file, besides: nil) } }
    let taker = BackupTaker(file)
    guard isProven || isVerified else {
      return try about(name) {
        try keychain.backUp(isHandedOn: file != nil, isVerified: false, by: nil, ceiling: options.ceiling, taker)
      }
    }
    return try withCredential { proof in
      try keychain.backUp(isHandedOn: file != nil, isVerified: isVerified, by: proof.duplicate(), ceiling: options.ceiling, taker)
    }
  }

  /// Whether the agent takes requests with a proof of the owner alone. Root needs none for a backup.
  var isProven: Bool { geteuid() != 0 }
}

/// Puts the copy that the agent hands on in its place.
private final class BackupTaker: UpkeepClient {
  private let path: String?
  private let show = UpkeepShow()

  init(_ path: String?) { self.path = path }

  func show(_ progress: UpkeepProgress) throws { try show.show(progress) }

  func reply(to question: UpkeepQuestion) throws -> UpkeepReply {
    guard question.kind == .offer, path != nil else { throw KeychainError(.agent, "a question that was not expected") }
    return .yes
  }

  func take(_ file: consuming OwnedDescriptor) throws {
    let work = try LongWork("copying")
    defer { work.end() }
    // The number is given up by its owner: the file closes it.
    let file = File<StorageError>(file.release(), VaultOptions.systemVault)
    guard let path, path != "-" else { return try VaultBackup.write(file, work) }
    try about(path) { try Backup.copy(file, to: path, step: work.step) }
  }
}
