internal import CofferFiles
import Glibc
public import VaultCore

/// The rollback anchors of this machine's vaults, in a directory outside of them: a file for each vault, named by the vault's id, so that
/// a vault that is moved keeps its anchor; for each path a note of the vault that was opened there last, so that a vault that takes
/// another one's place is noticed; for each vault the path at which its anchor was written last; and for another path, once a copy is
/// written to there or a state accepted, an anchor of its own, so that it does not move that of the vault. Not thread-safe; any number of
/// processes may use one directory.
public final class AnchorFiles: AnchorStore {
  /// The longest anchor there may be.
  public static let maximumByteCount = 4096
  /// A process holds the lock while it replaces two small files: after this long it was stopped.
  private static let lockPatience = 10_000

  /// The directory of the anchors.
  public let directory: String
  let vaultPath: String
  /// Whether the anchor of the vault is known to have been written last at this path.
  var isHome = false
  /// It is needed at each search.
  private var knownNotePath: String?

  /// Nothing is opened or made yet.
  /// - Parameters:
  ///   - directory: The directory, `anchors` in `Places.state`.
  ///   - vaultPath: As `FileStore.path` gives it, so that all ways to write the path lead to one note.
  public init(in directory: String, forVaultAt vaultPath: String) {
    (self.directory, self.vaultPath) = (directory, vaultPath)
  }

  /// The path of a vault's anchor.
  public func path(of vault: Identifier) -> String { "\(directory)/\(vault)" }

  /// The note of this path. The digest makes a file name of a path of any length.
  /// - Throws: `randomNotAvailable`.
  public func notePath() throws -> String {
    if let knownNotePath { return knownNotePath }
    let path = try madeNotePath()
    knownNotePath = path
    return path
  }

  private func madeNotePath() throws -> String {
    var digest = try ContentDigest()
    digest.update(Array(vaultPath.utf8))
    let name = digest.finish()
    return "\(directory)/at-\(name.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())"
  }

  /// - Throws: as `load`.
  public func lastVault() throws -> [UInt8]? {
    try checkDirectory()
    try? settle()
    return try lastNote()
  }

  /// As `lastVault`, while a restore may be under way.
  func lastNote() throws -> [UInt8]? { try Self.read(notePath()) }

  /// The anchor of this path alone, if it has one, and else that of the vault. Returns nil if there is no file, or an empty one.
  /// - Throws: `StorageError`: `symbolicLink`, `notAFile`, `foreignOwner`,
  ///   `permissionsTooOpen`, `accessDenied`, `descriptorsExhausted`, `io`; `randomNotAvailable`.
  public func load(_ vault: Identifier) throws -> [UInt8]? {
    try ownAnchor(of: vault) ?? Self.read(path(of: vault))
  }

  /// Compares and replaces under a lock, each file atomically; makes the directory, for this user alone. A copy gets an anchor of its own:
  /// the vault that it was made from would be refused as an older one. Without `isDurable` nothing is synced: after a power loss the anchor
  /// may be an older one, which refuses no newer state under the same keys.
  /// - Throws: what `replacement` throws; as `load`; `StorageError`: `busy` if another process keeps the lock for ten seconds; `readOnly`,
  ///   `full`.
  public func update(_ vault: Identifier, isDurable: Bool, _ replacement: ([UInt8]?) throws -> [UInt8]?) throws {
    try withLock {
      try removeLeftovers(of: vault)
      // The vault has been written since: it is not the one that a restore has left, unless that was a moment ago.
      guard try !finishIntent() else { return }
      let durability: SmallFile.Durability = isDurable ? .durable : .notSynced
      let own = try ownAnchor(of: vault)
      let isCopy = try own != nil || isAnchoredElsewhere(vault)
      if let anchor = try replacement(own ?? Self.read(path(of: vault))) {
        try Self.write(anchor, to: isCopy ? ownPath(of: vault) : path(of: vault), durability)
        if !isCopy { try takeHome(vault) }
      } else if isCopy && own == nil {
        // A copy that was only read has no note: if it is refused later, the error says that it is one.
        return
      }
      try note(vault)
    }
  }

  /// At the path of the vault its anchor is replaced, and at another path that has none gets one of its own: the vault may lie on a disk that
  /// is not here.
  /// - Throws: as `update`.
  public func accept(_ vault: Identifier, _ anchor: [UInt8]) throws {
    try withLock {
      try adopt(vault, anchor)
      try removeIntent()
    }
  }

  private func adopt(_ vault: Identifier, _ anchor: [UInt8]) throws {
    if try isHome(of: vault) {
      try Self.write(anchor, to: path(of: vault), .durable)
      try takeHome(vault)
    } else {
      try Self.write(anchor, to: ownPath(of: vault), .durable)
    }
    try note(vault, .durable)
  }

  private func note(_ vault: Identifier, _ durability: SmallFile.Durability = .notSynced) throws {
    if try lastNote() != vault.bytes { try Self.write(vault.bytes, to: notePath(), durability) }
  }

  /// - Throws: what would keep the anchor of a vault from being read or written, but for a full disk.
  package func check(_ vault: Identifier) throws {
    _ = try (lastVault(), isHome(of: vault))
    if let anchor = try load(vault), Self.generation(anchor) == nil {
      throw StorageError(.wrongLength, "\(path(of: vault)): \(anchor.count) bytes")
    }
    try withLock {}
  }

  /// Other users could remove an anchor, and an older vault would pass.
  private func checkDirectory() throws {
    guard let status = try Files.status(at: directory, followingLinks: true), status.kind == .directory else { return }
    try Ownership.check(directory: status, directory)
  }

  /// Removes the files that killed processes have left.
  private func removeLeftovers(of vault: Identifier) throws {
    let names = Set(
      try [path(of: vault), notePath(), homePath(of: vault), ownPath(of: vault)].map { Path.name(of: $0) })
    for path in TemporaryName.leftovers(in: directory, where: names.contains) { try Files.remove(path) }
  }

  func withLock(_ body: () throws -> Void) throws {
    try Files.makeDurableDirectory(directory)
    let lock = try OpenFile("\(directory)/lock", O_RDWR | O_CREAT)
    let turn = FileLock(on: lock.number, byte: 0)
    try turn.take(
      until: Deadline(milliseconds: Self.lockPatience), pause: LockPause(500, upTo: 500), directory,
      orThrow: StorageError(.busy, "another process writes \(directory)"))
    defer { withExtendedLifetime(lock) { turn.release() } }
    try body()
  }

  // MARK: Intents

  /// The note of a restore that is about to replace the vault: the header that the vault gets, and the anchor of that state. If the process is killed after its
  /// commit, the next one to look at the anchor finishes it: else the owner would be refused the vault that they have restored.
  private struct Intent {
    static let headerByteCount = 256
    let header: [UInt8]
    let anchor: [UInt8]

    init(header: [UInt8], anchor: [UInt8]) { (self.header, self.anchor) = (header, anchor) }

    init?(_ bytes: [UInt8]) {
      guard bytes.count > Self.headerByteCount else { return nil }
      self.init(header: Array(bytes[..<Self.headerByteCount]), anchor: Array(bytes[Self.headerByteCount...]))
    }

    /// At its place in the header.
    var vault: Identifier? { Identifier(Array(header[24..<40])) }
  }

  /// The path of the intent of this vault.
  package func intentPath() throws -> String {
    let note = try notePath()
    return "\(directory)/restore-\(Path.name(of: note).dropFirst("at-".count))"
  }

  /// Durable when it returns. To be called within the maintenance lock, before the vault is replaced.
  /// - Parameters:
  ///   - header: The header that the vault is going to have.
  ///   - anchor: The anchor of that state.
  package func announce(header: [UInt8], anchor: [UInt8]) throws {
    try withLock { try Self.write(header + anchor, to: intentPath(), .durable) }
  }

  /// To be called if the vault was not replaced.
  package func withdraw() throws { try withLock { try removeIntent() } }

  /// Carries out the intent, if the vault has its header. One that a process has left that was killed before its commit is removed.
  /// - Throws: as `update`; as `FileStore.init`.
  package func settle() throws {
    guard try Files.status(at: intentPath()) != nil else { return }
    // If it is held, the vault may get the header at any time.
    let isUnderWay = try MaintenanceLock.isHeld(forVaultAt: vaultPath)
    try withLock { _ = try finishIntent(isUnderWay: isUnderWay) }
  }

  /// Within the lock.
  /// - Parameter isUnderWay: Whether an intent stays that the vault does not have yet.
  /// - Returns: Whether the vault is the one that a restore has left.
  private func finishIntent(isUnderWay: Bool = false) throws -> Bool {
    guard let bytes = try Self.read(intentPath()) else { return false }
    guard let intent = Intent(bytes), let vault = intent.vault, try presentHeader() == intent.header else {
      if !isUnderWay { try removeIntent() }
      return false
    }
    try adopt(vault, intent.anchor)
    try removeIntent()
    return true
  }

  private func removeIntent() throws { unsafe unlink(try intentPath()) }

  /// nil without a vault.
  private func presentHeader() throws -> [UInt8]? {
    do { return try FileStore(at: vaultPath).read { try $0.header(0) } } catch let error as StorageError
      where [.noVault, .logWithoutVault].contains(error.code)
    {
      return nil
    }
  }

  /// Returns nil for an empty file. One that is too long is a damaged one: one byte more than there may be is returned.
  static func read(_ path: String) throws -> [UInt8]? {
    guard let file = try SmallFile.open(path) else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.maximumByteCount + 1)
    let count = unsafe try bytes.withUnsafeMutableBytes { buffer in
      var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
      return try file.read(into: &span)
    }
    return count == 0 ? nil : Array(bytes[..<count])
  }

  static func write(_ bytes: [UInt8], to path: String, _ durability: SmallFile.Durability = .notSynced) throws {
    guard 1...Self.maximumByteCount ~= bytes.count else { throw StorageError(.wrongLength, "\(bytes.count) bytes") }
    unsafe try SmallFile.write(bytes.span.bytes, to: path, replacing: true, durability)
  }
}
