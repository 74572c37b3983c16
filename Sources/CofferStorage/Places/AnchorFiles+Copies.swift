internal import CofferFiles
package import VaultCore

// A copy of a vault has its id, and so the same anchor.
extension AnchorFiles {
  /// The path at which the vault lay when its anchor was written last.
  func homePath(of vault: Identifier) -> String { "\(directory)/home-\(vault)" }

  /// The anchor of the copy at this path.
  func ownPath(of vault: Identifier) throws -> String { "\(directory)/\(vault)-\(Path.name(of: try notePath()))" }

  /// Returns nil if the vault here is no copy, or a copy that was not written to.
  func ownAnchor(of vault: Identifier) throws -> [UInt8]? { try isUsual ? nil : Self.read(ownPath(of: vault)) }

  var isUsual: Bool { vaultPath == usualPath }

  /// The generation in the anchor, which is not proven. nil if there is none, or if it is damaged. Section 11 of FORMAT.md.
  package func seenGeneration(of vault: Identifier) -> UInt64? { (try? load(vault)).flatMap { $0.flatMap(Self.generation) } }

  static func generation(_ anchor: [UInt8]) -> UInt64? {
    guard [96, 192].contains(anchor.count) else { return nil }
    return anchor[24..<32].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Within the lock. The file of the anchor of the vault at this path. If the vault lies nowhere else, it was moved here, and the anchor is
  /// its own from now on.
  /// - Throws: as `load`; `readOnly`, `full`.
  func anchorPath(of vault: Identifier) throws -> String {
    if try isAnchoredElsewhere(vault) { return try ownPath(of: vault) }
    try takeHome(vault)
    return path(of: vault)
  }

  /// Whether the vault of this anchor lies at another path, so that the one at this path is a copy: at the usual path, or else at the one at
  /// which the anchor was written last.
  /// - Parameter vault: Not looked up at the usual path.
  /// - Throws: as `load`; what looking up the vault throws.
  package func isAnchoredElsewhere(_ vault: @autoclosure () throws -> Identifier) throws -> Bool {
    guard !isHome, !isUsual else { return false }
    let vault = try vault()
    if let usualPath, isThere(vault, at: usualPath) { return true }
    guard let home = try Self.read(homePath(of: vault)) else { return false }
    let path = String(decoding: home, as: UTF8.self)
    return path != vaultPath && isThere(vault, at: path)
  }

  private func takeHome(_ vault: Identifier) throws {
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
