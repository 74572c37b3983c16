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
    guard [96, 192].contains(anchor.count) else { return nil }
    return anchor[24..<32].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Whether the vault of this anchor lies at another path, that at which the anchor was written last, so that the one at this path is a copy.
  /// - Parameter vault: The id of what lies at this path.
  /// - Throws: as `load`.
  package func isAnchoredElsewhere(_ vault: Identifier) throws -> Bool {
    guard !isHome, let home = try home(of: vault), home != Array(vaultPath.utf8) else { return false }
    return try isThere(vault, at: String(decoding: home, as: UTF8.self))
  }

  /// Whether the anchor was written last at this path, or never.
  package func isHome(of vault: Identifier) throws -> Bool {
    guard let home = try home(of: vault) else { return try Self.read(path(of: vault)) == nil }
    return home == Array(vaultPath.utf8)
  }

  /// As bytes: strings are equal in Swift whose paths differ, such as those of one name in two forms of Unicode.
  private func home(of vault: Identifier) throws -> [UInt8]? { try Self.read(homePath(of: vault)) }

  /// After the anchor of the vault was written from here. A reader does not take it: the vault may be away for a moment.
  func takeHome(_ vault: Identifier) throws {
    let path = Array(vaultPath.utf8)
    if try home(of: vault) != path { try Self.write(path, to: homePath(of: vault), .durable) }
    isHome = true
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
