package import CofferFiles
internal import Glibc

/// The item of each credential: a file `UNIT/NAME` in a directory that root alone can write to. It holds no secret.
package struct CredentialMap: Sendable {
  package static let standardDirectory = "/etc/coffer/services"
  private static let longestText = 4096

  private let path: String
  private let builder: UInt32

  /// - Parameters:
  ///   - path: The directory.
  ///   - builder: A second user that may own the files. An image may be made by an ordinary user.
  package init(at path: String = standardDirectory, builder: UInt32 = 0) {
    self.path = path
    self.builder = builder
  }

  /// - Returns: nil if there is none.
  /// - Throws: `FileError`: `foreignOwner`, `permissionsTooOpen` if another user than these could have written it; `tooLarge`;
  ///   `notAFile` for a file of another form; errors of the system.
  package func source(of credential: UnitCredential) throws(FileError) -> CredentialSource? {
    guard let unit = try directory()?.directory(FileName(credential.unit)) else { return nil }
    try checkOwner(unit.status(), unit.path)
    let name = try FileName(credential.name)
    guard let status = try unit.status(name) else { return nil }
    try checkOwner(status, unit.below(name))
    guard let bytes = try unit.contents(name, limit: Self.longestText) else { return nil }
    guard let source = String(validating: bytes, as: UTF8.self).flatMap({ CredentialSource($0) }) else {
      throw FileError(.notAFile, "\(unit.below(name)): does not name an item")
    }
    return source
  }

  /// All of them, by unit and name. Files of other names are left out.
  /// - Throws: `FileError`.
  package func credentials() throws(FileError) -> [UnitCredential] {
    guard let directory = try directory() else { return [] }
    var found: [UnitCredential] = []
    for unit in try directory.names() where try directory.kind(unit) == .directory {
      for name in try directory.directory(unit)?.names() ?? [] {
        do throws(UnitCredential.Malformed) {
          found.append(try UnitCredential(unit: unit.description, name: name.description))
        } catch { continue }
      }
    }
    return found
  }

  /// Is on the disk when this returns.
  /// - Throws: `FileError`.
  package func set(_ source: CredentialSource, for credential: UnitCredential) throws(FileError) {
    try SystemFile(directory: Path.join(path, credential.unit), name: credential.name).write(source.text)
  }

  /// - Returns: Whether there was one.
  /// - Throws: `FileError`.
  package func remove(_ credential: UnitCredential) throws(FileError) -> Bool {
    try SystemFile(directory: Path.join(path, credential.unit), name: credential.name).remove()
  }

  private func directory() throws(FileError) -> OpenDirectory? {
    do throws(FileError) {
      let directory = try OpenDirectory.foreign(path)
      try checkOwner(directory.status(), path)
      return directory
    } catch {
      guard error.code == .missing else { throw error }
      return nil
    }
  }

  private func checkOwner(_ status: FileStatus, _ path: String) throws(FileError) {
    guard status.owner == 0 || status.owner == builder else {
      throw FileError(.foreignOwner, "\(path) belongs to user \(status.owner)")
    }
    guard status.kind == .link || status.mode & 0o022 == 0 else {
      throw FileError(.permissionsTooOpen, "\(path): others may write to it")
    }
  }
}
