internal import CofferFiles
package import VaultCore

// A copy of a vault has its id, and so the same anchor.
extension AnchorFiles {
  /// The path at which the vault lay when its anchor was written last.
  func homePath(of vault: Identifier) -> String { "\(directory)/home-\(vault)" }

  /// The anchor of the copy at this path.
  func ownPath(of vault: Identifier) throws -> String { "\(directory)/\(vault)-\(Path.name(of: try notePath()))" }

  /// Returns nil if no copy was written to here.
  func ownAnchor(of vault: Identifier) throws -> [UInt8]? { try Self.read(ownPath(of: vault)) }

  /// The generation in the anchor, which is not proven. nil if there is none, or if it is damaged. Section 11 of FORMAT.md.
  package func seenGeneration(of vault: Identifier) -> UInt64? { (try? load(vault)).flatMap { $0.flatMap(Self.generation) } }

  static func generation(_ anchor: [UInt8]) -> UInt64? {
    guard [byteCount, 2 * byteCount].contains(anchor.count) else { return nil }
    return anchor[24..<32].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Whether the vault of this anchor lies at another path, that at which the anchor was written last, so that the one at this path is a copy.
  /// - Parameter vault: The id of what lies at this path.
  /// - Throws: as `load`.
  package func isAnchoredElsewhere(_ vault: Identifier) throws -> Bool {
    guard !isHome, let home = try home(of: vault), home != vaultPath else { return false }
    return try isThere(vault, at: home)
  }

  /// Whether the anchor was written last at this path, or never.
  func isHome(of vault: Identifier) throws -> Bool { try home(of: vault).map { $0 == vaultPath } ?? true }

  private func home(of vault: Identifier) throws -> String? {
    try Self.read(homePath(of: vault)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// After the anchor of the vault was written from here.
  func takeHome(_ vault: Identifier) throws {
    if try home(of: vault) != vaultPath { try Self.write(Array(vaultPath.utf8), to: homePath(of: vault)) }
    isHome = true
    let own = try ownPath(of: vault)
    if try Files.status(at: own) != nil { try Files.remove(own) }
  }

  /// Whether the vault is at a path, or was the last one there and something still is, which may be the vault damaged.
  private func isThere(_ vault: Identifier, at path: String) throws -> Bool {
    let file: FileStatus
    do {
      guard let found = try Files.status(at: path, followingLinks: true) else { return false }
      file = found
    } catch { return true }
    // The same file by another path, such as that of a mount or of a link.
    guard (try? Files.status(at: vaultPath))?.isSameFile(as: file) != true else { return false }
    if try AnchorFiles(in: directory, forVaultAt: path).lastNote() == vault.bytes { return true }
    do { return try Vault.inspect(FileStore(at: path)).id == vault } catch let error as StorageError {
      return ![.noVault, .notAVault].contains(error.code)
    } catch { return true }
  }
}
