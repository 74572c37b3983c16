package import CofferFiles
package import SSHAgentProtocol

/// The public keys of the keys in the vault, one in a file: so that they can be listed while the vault is locked, and named by
/// `IdentityFile` in the configuration of ssh.
package struct PublicKeyDirectory: Sendable {
  private static let ending = ".pub"

  package let path: String

  package init(at path: String) { self.path = path }

  package func path(of name: SSHKeyName) -> String { Path.join(path, name.description + Self.ending) }

  /// The keys that are there now, by name. Files that are not public keys are left out.
  package var keys: [(name: SSHKeyName, line: PublicKeyLine)] {
    guard let directory = try? OpenDirectory.root(path, isMade: false), let files = try? directory.names() else { return [] }
    var keys: [(name: SSHKeyName, line: PublicKeyLine)] = []
    for file in files.prefix(AgentLimits.keys) {
      guard file.description.hasSuffix(Self.ending), let name = SSHKeyName(String(file.description.dropLast(Self.ending.count))),
        let bytes = try? directory.contents(file, limit: AgentLimits.publicKeyByteCount), let line = PublicKeyLine(parsing: bytes)
      else { continue }
      keys.append((name, line))
    }
    return keys
  }

  /// Replaces what is there of this name.
  /// - Throws: `FileError`.
  package func write(_ line: PublicKeyLine, as name: SSHKeyName) throws(FileError) {
    guard let directory = try OpenDirectory.root(path, isMade: true) else { throw FileError(.missing, path) }
    let file = self.path(of: name)
    let new = try NewFile<FileError>(at: TemporaryName.next(for: file))
    try new.file.write(Array("\(line.text)\n".utf8))
    try new.file.synchronizeData()
    _ = try new.replace(file)
    try directory.synchronize()
  }

  /// Does nothing if there is none.
  /// - Throws: `FileError`.
  package func remove(_ name: SSHKeyName) throws(FileError) {
    guard let directory = try OpenDirectory.root(path, isMade: false) else { return }
    try directory.remove(FileName(name.description + Self.ending))
  }
}
