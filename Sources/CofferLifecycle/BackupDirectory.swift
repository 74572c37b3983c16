import CofferFiles
import CofferStorage
import Glibc
import VaultCore

/// The directory in which the backups of one vault lie that were made without a name.
package struct BackupDirectory: Sendable {
  /// How many of them stay.
  package static let keptCount = 10
  /// The name, until it is known, of a file that is being made.
  static let unnamed = "coffer-backup"

  package let path: String

  /// - Parameter path: As `Places.backups` gives it. The directory need not be there.
  package init(at path: String) { self.path = path }

  private var allNames: [String] { (try? OpenDirectory.foreign(path).names().map(\.description)) ?? [] }

  /// Its backups, the newest first. Other files are not looked at.
  package var names: [BackupName] {
    allNames.compactMap { BackupName($0) }.sorted(by: >)
  }

  /// The paths of regular files with names that were given by a person.
  var others: [String] {
    allNames.filter { BackupName($0) == nil && !$0.hasPrefix(".") }.sorted().map { Path.join(path, $0) }
      .filter { (try? Files.status(at: $0))?.kind == .file }
  }

  /// The paths of its backups, and of the files that a restore has put aside.
  package var paths: [String] { names.map(path(of:)) + putAside }

  /// The paths of the directories with files that could not be read.
  var putAside: [String] { allNames.filter { $0.hasPrefix(Self.damaged) }.sorted().map { Path.join(path, $0) } }

  /// The beginning of their names.
  static let damaged = "damaged-"

  /// Whether as many backups as stay, or more, are all newer.
  func isFull(ofBackupsSince time: Timestamp) -> Bool {
    let times = names.filter { $0.occasion == .ordinary }.map(\.time)
    return times.count >= Self.keptCount && times.allSatisfy { $0.secondsSince1970 > time.secondsSince1970 }
  }

  /// The path of the backup that a restore takes if none is named: the newest one that is a vault, apart from those that were made because
  /// their content was to be replaced.
  /// - Parameter vault: The path of the vault. If one is there, backups of other vaults are passed over.
  /// - Throws: `noBackup`, `onlyReplacedStates`, `onlyOtherVaults`; `backupOrderUnclear`: the newest one by its time is another one than by its generation,
  ///   because the clock was wrong, or an older vault was accepted.
  package func newest(forVaultAt vault: String) throws -> String {
    let present = Self.status(ofVaultAt: vault)?.id
    let vaults = names.compactMap { name in
      name.occasion == .ordinary ? Self.status(ofVaultAt: path(of: name)).map { (name: name, id: $0.id) } : nil
    }
    let usable = vaults.filter { present == nil || $0.id == present }.map(\.name)
    if usable.isEmpty, let other = vaults.first { throw LifecycleError(.onlyOtherVaults, path(of: other.name)) }
    guard let first = usable.first, let last = usable.max(by: Self.isOfEarlierGeneration) else {
      let others = names.filter { $0.occasion != .ordinary }.map(path(of:))
      throw others.isEmpty ? LifecycleError(.noBackup, path) : LifecycleError(.onlyReplacedStates, others.joined(separator: ", "))
    }
    guard first.generation >= last.generation else {
      throw LifecycleError(.backupOrderUnclear, "\(path(of: first)), \(path(of: last))")
    }
    return path(of: first)
  }

  /// The newest backup that is a vault, and whose time is not to come, apart from those that were made because their content was to be
  /// replaced.
  func newestUsable(at now: Timestamp) -> BackupName? {
    names.first { name in
      name.occasion == .ordinary && name.time.secondsSince1970 <= now.secondsSince1970 + 86_400
        && Self.status(ofVaultAt: path(of: name)) != nil
    }
  }

  /// The backups of rotations that were not finished. They open with the credentials of before, which others may know.
  var unfinishedRotations: [String] { names.filter { $0.occasion == .rotation }.map(path(of:)) }

  private static func status(ofVaultAt path: String) -> VaultStatus? { try? Vault.inspect(FileStore(unchangingAt: path)) }

  private static func isOfEarlierGeneration(_ left: BackupName, _ right: BackupName) -> Bool {
    (left.generation, left.time) < (right.generation, right.time)
  }

  package func path(of name: BackupName) -> String { Path.join(path, name.text) }

  /// Temporary files of processes that were killed.
  package func leftovers(remove: Bool) -> [String] {
    ownPlaces.flatMap { Self.leftovers(in: $0, remove: remove) }
  }

  private static func leftovers(in directory: String, remove: Bool) -> [String] {
    UnnamedVault.leftovers(in: directory, remove: remove) { $0 == unnamed }
  }

  /// Removes one of its backups, with the report that a repair has written beside it.
  package func remove(_ path: String) throws {
    for path in [path, Self.report(of: path)] {
      guard unsafe unlink(path) == 0 || errno == ENOENT else { throw StorageError(errno: errno, path) }
    }
  }

  /// The path of the report of the repair before which a backup was made.
  static func report(of backup: String) -> String { "\(backup).repair" }

  /// A file that gets its name later, in the directory, which is there. Files that killed processes have left are removed.
  func begin() throws -> UnnamedVault { try begin(in: path) }

  private func begin(in directory: String) throws -> UnnamedVault {
    for place in Set(ownPlaces + [directory]) { _ = Self.leftovers(in: place, remove: true) }
    return try UnnamedVault(for: Path.join(directory, Self.unnamed))
  }

  /// The directory and, as long as that is not there, the one above.
  private var ownPlaces: [String] { [path, Path.parent(of: path)] }

  /// A file that is only read and gets no name, in the first directory that takes it: this one or, if it is not there, the one above; else
  /// one for temporary files. Its content is sealed like a backup.
  /// - Parameter fill: Called again for the next directory, if one has no room.
  /// - Throws: `full`, `readOnly`, `accessDenied`, with the directories that were tried; the errors of `fill`.
  func scratch(_ fill: (borrowing UnnamedVault) throws -> Void) throws -> UnnamedVault {
    let own = try ownPlaces.first { try Files.status(at: $0, followingLinks: true) != nil }
    let temporary = Environment["TMPDIR"].map { [$0] } ?? ["/var/tmp", "/tmp"]
    var refusals: [(directory: String, code: StorageError.Code)] = []
    for directory in [own].compactMap(\.self) + temporary {
      do {
        let copy = try begin(in: directory)
        try fill(copy)
        return copy
      } catch let error as StorageError where Self.isAboutPlace(error) {
        refusals.append((directory, error.code))
      }
    }
    let code: StorageError.Code = refusals.contains { $0.code == .full } ? .full : refusals.first?.code ?? .noVault
    let places = refusals.map { $0.code == code ? $0.directory : "\($0.directory): \(Self.words(for: $0.code))" }
    throw StorageError(code, places.joined(separator: ", ") + "; TMPDIR names another directory")
  }

  private static func words(for code: StorageError.Code) -> String {
    switch code {
    case .noVault: "missing"
    case .readOnly: "read-only"
    default: "not usable"
    }
  }

  private static func isAboutPlace(_ error: StorageError) -> Bool {
    switch error.code {
    case .full, .readOnly, .accessDenied, .noVault, .foreignOwner, .permissionsTooOpen: true
    default: false
    }
  }

  /// Gives a backup its name: with a later second if several were made within one. So the names have the order in which they
  /// were given.
  func keep(_ copy: consuming UnnamedVault, as name: BackupName) throws -> String {
    var name = name
    if let newest = names.first, name.time.secondsSince1970...name.time.secondsSince1970 + 60 ~= newest.time.secondsSince1970 {
      name.time.secondsSince1970 = newest.time.secondsSince1970 + (name.generation > newest.generation ? 0 : 1)
    }
    while try Files.status(at: path(of: name)) != nil { name.time.secondsSince1970 += 1 }
    let path = path(of: name)
    guard try copy.appear(at: path) else { throw LifecycleError(.backupExists, path) }
    return path
  }

  /// Removes the oldest backups, and copies of a state of which a newer copy is the same. One that cannot be removed stays.
  ///
  /// Backups of one state are equal byte by byte. If one of them differs, a disk may have damaged either: both stay.
  ///
  /// The newest ones by their times stay, and those by their generations, in turn. Mostly they are the same. A clock that was wrong for
  /// a while makes the times wrong, and a vault of before that was accepted makes the generations small. Backups that were made because their
  /// content was to be replaced count apart, so that a person who restores one after the other loses none. Those of another vault stay: it
  /// may be the one that was lost.
  /// - Parameter kept: The paths, in any form, of files that stay. The first one is a backup of this vault.
  /// - Returns: the paths of those that were removed.
  @discardableResult
  package func prune(keeping kept: [String]) -> [String] {
    let own = kept.first.flatMap { Self.status(ofVaultAt: $0)?.id }
    let all = names.filter { own == nil || Self.status(ofVaultAt: path(of: $0))?.id ?? own == own }
    let kept = kept.compactMap { try? Files.status(at: $0) }
    let ordinary = excess(of: all.filter { $0.occasion == .ordinary }, kept)
    let others = excess(of: all.filter { $0.occasion != .ordinary }, kept)
    return (ordinary + others).map(path(of:)).filter { (try? remove($0)) != nil }
  }

  private func excess(of all: [BackupName], _ kept: [FileStatus]) -> [BackupName] {
    var staying = Set(
      all.filter { name in
        guard let status = try? Files.status(at: path(of: name)) else { return true }
        return kept.contains { $0.isSameFile(as: status) }
      })
    let distinct = all.indices.filter { !isRepeated(all[$0], by: all[..<$0]) }.map { all[$0] }
    for pair in zip(distinct, distinct.sorted { Self.isOfEarlierGeneration($1, $0) }) {
      for name in [pair.0, pair.1] where staying.count < Self.keptCount { staying.insert(name) }
    }
    return all.filter { !staying.contains($0) }
  }

  /// Whether one of the newer backups is a copy of the same state.
  private func isRepeated(_ name: BackupName, by newer: ArraySlice<BackupName>) -> Bool {
    name.occasion == .ordinary
      && newer.contains { $0.occasion == .ordinary && $0.generation == name.generation && hasEqualFiles($0, name) }
  }

  private func hasEqualFiles(_ left: BackupName, _ right: BackupName) -> Bool {
    func file(_ name: BackupName) throws -> File<StorageError>? { try File.open(path(of: name), O_RDONLY) }
    guard let left = try? file(left), let right = try? file(right) else { return false }
    return (try? left.isEqual(to: right)) ?? false
  }
}

typealias Files = CofferFiles.Files<StorageError>
