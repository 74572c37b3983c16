package import CofferFiles

/// The user's data in an app, as an archive for any tar: the directories whose class is backed up, without the entries that the
/// app has excluded.
package struct Backup: Sendable {
  /// How many files, directories and links are in it.
  package private(set) var count = 0
  /// The entries that were left out because a restoration refuses them: sockets, pipes, devices, links that leave the container.
  package private(set) var leftOut: [String] = []

  /// Writes the archive, compressed with gzip.
  /// - Throws: `running`: what changes while it is read would be in it by halves; `toolMissing`, `toolFailed`; what the system
  ///   says.
  package init(of container: AppContainer, to output: OpenFile) throws(FileError) {
    let lock = try RunningLock.excludingPrograms(of: container.app, in: container.siblings)
    var paths: [[UInt8]] = []
    var leftOut: [String] = []
    func visit(_ entry: ContainerWalk.Entry) throws(FileError) -> Bool {
      guard DirectoryClass.of(entry.names)?.rules.isBackedUp == true else { return false }
      guard try !entry.parent.isExcludedFromBackup(entry.names[entry.names.count - 1]) else { return false }
      let isWanted =
        switch entry.kind {
        case .file, .directory: true
        case .link: try entry.linkStaysInside
        case .other: false
        }
      guard isWanted else {
        leftOut.append("\(RelativePath(names: entry.names))")
        return false
      }
      paths.append(entry.path)
      return true
    }
    try withoutActuallyEscaping(visit) { visit throws(FileError) in
      try ContainerWalk(visit).run(container.directory)
    }
    let list = try MemoryFile(Array(paths.map { $0 + [0] }.joined()))
    let outcome = try Tar.run(
      [
        // Whose it is: `Restoration` compares it.
        "--create", "--gzip", "--format=posix", "--label=\(container.app)", "--numeric-owner", "--owner=0", "--group=0",
        // A file that is mostly a hole is as small in the archive.
        "--hard-dereference", "--sparse",
        "--no-recursion", "--null", "--verbatim-files-from", "--files-from=-", "--file=-",
      ], in: container.directory, input: list.number, output: output.number)
    guard outcome.isSuccess else { throw FileError(.toolFailed, outcome.message) }
    try output.synchronize()
    withExtendedLifetime(lock) {}
    count = paths.count
    self.leftOut = leftOut
  }
}
