import CofferFiles
import CofferStorage
import Glibc
import VaultCore

/// The copies of a vault from before a rotation, which open with credentials and keys of before: its backups, files of other names among
/// them, and the copy that a conversion has left beside it.
struct OldBackups {
  private let directory: BackupDirectory
  private let vault: Identifier
  private let draft: String
  private let before: Set<String>

  /// - Parameter vault: The identifier of the vault. Another one may have been at its path, and left backups.
  init(in directory: BackupDirectory, ofVaultAt path: String, _ vault: Identifier) {
    (self.directory, self.vault) = (directory, vault)
    draft = FileStore.draftCopy(ofVaultAt: path)
    before = Set(directory.names.map(directory.path(of:)) + directory.others)
  }

  /// Removes those that an earlier rotation was to remove and did not come to, that of this rotation if it is not to stay, and all if the
  /// order says so. One that cannot be removed, or read, stays.
  /// - Parameters:
  ///   - kept: The path of the backup that this rotation has made.
  ///   - generation: The generation of the last commit with new keys. A backup of an earlier one, made meanwhile, has rows under old keys.
  /// - Returns: The paths of those that were removed.
  func remove(_ order: RotationOrder, keeping kept: String, before generation: UInt64) -> [String] {
    let named = directory.names.filter { name in
      let path = directory.path(of: name)
      guard path != kept else { return order.removesBackup }
      guard name.occasion == .rotation || order.prunesBackups && (before.contains(path) || name.generation < generation)
      else { return false }
      return status(path) != nil
    }.map(directory.path(of:)).filter { (try? directory.remove($0)) != nil }
    guard order.prunesBackups else { return named }
    let others = directory.others.filter { path in
      guard let status = status(path) else { return false }
      return before.contains(path) || status.generation < generation
    }
    let isOwnDraft = isDraft && (try? Vault.inspect(DraftFile(at: draft)))?.id == vault
    return named + (others + (isOwnDraft ? [draft] : [])).filter { unsafe unlink($0) == 0 }
  }

  /// The paths of those that are there.
  var left: [String] {
    directory.paths + directory.others.filter { status($0) != nil } + (isDraft ? [draft] : [])
  }

  /// nil for another vault, and for a file that cannot be read.
  private func status(_ path: String) -> VaultStatus? {
    (try? Vault.inspect(FileStore(unchangingAt: path))).flatMap { $0.id == vault ? $0 : nil }
  }

  private var isDraft: Bool { (try? Files.status(at: draft))?.kind == .file }
}
