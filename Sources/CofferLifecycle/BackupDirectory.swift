import CofferFiles
import CofferStorage
import Glibc
import VaultCore

/// The directory in which the backups of one vault lie that were made without a name.
package struct BackupDirectory: Sendable {
  /// How many of them stay.
  package static let keptCount = 10
  /// The name, until it is known, of a file that is being made.
  static let unnamed = "backup"

  package let path: String

  /// - Parameter path: As `Places.backups` gives it. The directory need not be there.
  package init(at path: String) { self.path = path }

  /// Its backups, the newest first. Other files are not looked at.
  package var names: [BackupName] {
    let names = (try? OpenDirectory.foreign(path).names().map(\.description)) ?? []
    return names.compactMap { BackupName($0) }.sorted(by: >)
  }

  /// The paths of its backups, and of the files that a restore has put aside.
  package var paths: [String] {
    let damaged = (try? OpenDirectory.foreign(path).names().map(\.description)) ?? []
    return names.map(path(of:)) + damaged.filter { $0.hasPrefix(Self.putAside) }.sorted().map { Path.join(path, $0) }
  }

  /// The beginning of the names of directories with files that could not be read.
  static let putAside = "damaged-"

  /// The one that a restore takes if no other is named: the newest one that was not made because what it holds was to be replaced.
  package var newest: BackupName? { names.first { $0.occasion == .ordinary } }

  package func path(of name: BackupName) -> String { Path.join(path, name.text) }

  /// Temporary files of processes that were killed.
  package func leftovers(remove: Bool) -> [String] {
    UnnamedVault.leftovers(in: path, remove: remove) { $0 == Self.unnamed }
  }

  /// Removes one of its backups, with the report that a repair has written beside it.
  package func remove(_ path: String) throws {
    for path in [path, Self.report(of: path)] {
      guard unsafe unlink(path) == 0 || errno == ENOENT else { throw StorageError(errno: errno, path) }
    }
  }

  /// The path of the report of the repair before which a backup was made.
  static func report(of backup: String) -> String { "\(backup).repair" }

  /// A file that gets its name later, in the directory, which is made for this user alone if it is not there. Files that killed processes
  /// have left in it are removed.
  func begin() throws -> UnnamedVault {
    try Files.makeDurableDirectory(path)
    _ = leftovers(remove: true)
    return try UnnamedVault(for: Path.join(path, Self.unnamed))
  }

  /// Gives a backup its name: one of a later second if the vault has a backup of this one already.
  func keep(_ copy: consuming UnnamedVault, as name: BackupName) throws -> String {
    var name = name
    while try Files.status(at: path(of: name)) != nil { name.time.secondsSince1970 += 1 }
    let path = path(of: name)
    guard try copy.appear(at: path) else { throw LifecycleError(.backupExists, path) }
    return path
  }

  /// Removes the oldest backups. One that cannot be removed stays.
  /// - Parameter kept: The paths, in any form, of files that stay, whatever the clock gave the others for names.
  /// - Returns: the paths of those that were removed.
  @discardableResult
  package func prune(keeping kept: [String]) -> [String] {
    let kept = kept.compactMap { try? Files.status(at: $0) }
    let all = names.map(path(of:))
    let others = all.filter { path in
      guard let status = try? Files.status(at: path) else { return false }
      return !kept.contains { $0.isSameFile(as: status) }
    }
    return others.dropFirst(max(0, Self.keptCount - (all.count - others.count))).filter { (try? remove($0)) != nil }
  }
}

typealias Files = CofferFiles.Files<StorageError>
