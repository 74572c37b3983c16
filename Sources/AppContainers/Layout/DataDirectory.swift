package import CofferFiles

/// `$XDG_DATA_HOME/coffer`, and in it what belongs to apps: `Apps`, `Containers`, `Groups`.
package struct DataDirectory: Sendable {
  package let root: OpenDirectory

  /// Created if there is none, for this user alone.
  /// - Throws: `foreignOwner`, `permissionsTooOpen`; what the system says.
  package init(at path: String) throws(FileError) {
    guard let root = try OpenDirectory.root(path, isMade: true) else { throw FileError(.missing, path) }
    self.root = root
  }

  /// Returns nil if it does not exist.
  package init?(existingAt path: String) throws(FileError) {
    guard let root = try OpenDirectory.root(path, isMade: false) else { return nil }
    self.root = root
  }

  private static let appsName = FileName(constant: "Apps")
  private static let containersName = FileName(constant: "Containers")
  private static let groupsName = FileName(constant: "Groups")

  package func apps() throws(FileError) -> OpenDirectory { try root.makeDirectory(Self.appsName) }
  package func containers() throws(FileError) -> OpenDirectory { try root.makeDirectory(Self.containersName) }
  package func groups() throws(FileError) -> OpenDirectory { try root.makeDirectory(Self.groupsName) }

  // MARK: Containers

  /// The container of an app, complete: what is missing is made, what is there stays.
  /// - Throws: `symbolicLink`, `notADirectory` where something else is in the place of a directory; what the system says.
  package func makeContainer(_ app: FileName) throws(FileError) -> AppContainer {
    let containers = try containers()
    try finishReplacement(of: app, in: containers)
    return try AppContainer(completing: try containers.makeDirectory(app), of: app, beside: containers)
  }

  /// Returns nil if there is none.
  package func container(_ app: FileName) throws(FileError) -> AppContainer? {
    let containers = try containers()
    try finishReplacement(of: app, in: containers)
    return try containers.directory(app).map { AppContainer($0, of: app, beside: containers) }
  }

  /// Finishes an interrupted restoration: a directory that is ready takes its place.
  private func finishReplacement(of app: FileName, in containers: OpenDirectory) throws(FileError) {
    let replacement = try Replacement(of: app, in: containers)
    guard try replacement.isUnfinished else { return }
    // Not while another process replaces it.
    let lock = try RunningLock.excludingPrograms(of: app, in: containers)
    try replacement.finish()
    withExtendedLifetime(lock) {}
  }

  /// Removes it with its content. Does nothing if it does not exist.
  /// - Parameter held: The lock, if the caller has it already.
  /// - Throws: `running`; what the system says.
  package func removeContainer(_ app: FileName, holding held: RunningLock? = nil) throws(FileError) {
    let containers = try containers()
    let lock = if let held { held } else { try RunningLock.excludingPrograms(of: app, in: containers) }
    try containers.removeTree(app)
    try Replacement(of: app, in: containers).discard()
    try lock.remove()
    try containers.synchronize()
  }

  // MARK: Groups

  package func makeGroup(_ group: FileName) throws(FileError) -> OpenDirectory {
    let directory = try groups().makeDirectory(group)
    let library = try directory.makeDirectory(FileName(constant: "Library"))
    _ = try library.makeDirectory(FileName(constant: "Preferences"))
    return directory
  }

  package func group(_ group: FileName) throws(FileError) -> OpenDirectory? { try groups().directory(group) }

  /// Does nothing if it does not exist.
  package func removeGroup(_ group: FileName) throws(FileError) {
    let groups = try groups()
    try groups.removeTree(group)
    try groups.synchronize()
  }
}
