internal import CofferFiles
package import VaultCore

// A copy of a vault has its id, and so the same anchor.
extension AnchorFiles {
  /// The path at which the vault lay when its anchor was written last.
  func homePath(of vault: Identifier) -> String { "\(directory)/home-\(vault)" }

  /// The generation in the anchor, which is not proven. nil if there is none, or if it is damaged. Section 11 of FORMAT.md.
  package func seenGeneration(of vault: Identifier) -> UInt64? {
    guard let anchor = try? load(vault), [96, 192].contains(anchor.count) else { return nil }
    return anchor[24..<32].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Within the lock. Whether the vault of the anchor lies elsewhere still. If not, this one was moved here, and the anchor is its own.
  /// - Throws: as `load`; `readOnly`, `full`.
  func isCopy(of vault: Identifier) throws -> Bool {
    if try isAnchoredElsewhere(vault) { return true }
    try takeHome(vault)
    return false
  }

  /// Whether the vault of this anchor lies at another path, so that the one at this path is a copy. A vault at the usual path, or at one where
  /// it was opened before, is none: it may have been missing for a while, when a copy took its place.
  /// - Parameter vault: Not looked up at the usual path.
  /// - Throws: as `load`; what looking up the vault throws.
  package func isAnchoredElsewhere(_ vault: @autoclosure () throws -> Identifier) throws -> Bool {
    guard !isHome, !isUsual else { return false }
    let vault = try vault()
    guard try Self.read(notePath()) != vault.bytes, let home = try Self.read(homePath(of: vault)) else { return false }
    let path = String(decoding: home, as: UTF8.self)
    return path != vaultPath && isThere(vault, at: path)
  }

  /// From now on the anchor is that of the vault at this path, whichever copies there are: the owner has said so.
  /// - Throws: as `update`.
  package func takeHome(of vault: Identifier) throws { try withLock { try takeHome(vault) } }

  /// Within the lock.
  func takeHome(_ vault: Identifier) throws {
    let path = Array(vaultPath.utf8)
    if try Self.read(homePath(of: vault)) != path { try Self.write(path, to: homePath(of: vault)) }
    isHome = true
  }

  /// A file that cannot be read may be the vault.
  private func isThere(_ vault: Identifier, at path: String) -> Bool {
    // The same file by another path, such as that of a mount or of a link.
    guard let file = try? Files.status(at: path, followingLinks: true),
      (try? Files.status(at: vaultPath))?.isSameFile(as: file) != true
    else { return false }
    do { return try Vault.inspect(FileStore(at: path)).id == vault } catch let error as StorageError {
      return ![.noVault, .notAVault].contains(error.code)
    } catch { return true }
  }
}
