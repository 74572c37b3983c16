internal import CLinux
package import CofferFiles
internal import Glibc

/// Replaces the content of a container by that of a backup: all of it, or nothing.
///
/// The archive is not trusted. It is unpacked into an empty directory, by a tar that overwrites nothing and
/// refuses `..`; then each entry is checked, and an entry that no backup contains refuses the whole. Only then does it take
/// the container's place.
package struct Restoration: Sendable {
  /// How many files, directories and links there are.
  package private(set) var count = 0

  /// - Parameter isOfAnyApp: Whether it may be the backup of another app, or name none.
  /// - Throws: `running`, `archiveOfAnotherApp`, `archiveRefused`, `toolMissing`; what the system says.
  package init(of container: AppContainer, from input: OpenFile, isOfAnyApp: Bool = false) throws(FileError) {
    let lock = try RunningLock.excludingPrograms(of: container.app, in: container.siblings)
    let replacement = try Replacement(of: container.app, in: container.siblings)
    do throws(FileError) {
      let fresh = try replacement.begin()
      try Self.unpack(input, into: fresh, of: isOfAnyApp ? nil : container.app)
      count = try Self.check(fresh)
      // A backup holds the directories at least. To take an empty archive for one would be to delete everything.
      guard count > 0 else { throw FileError(.archiveRefused, "it is empty") }
      try AppContainer.complete(fresh)
      try Self.synchronize(fresh)
      try replacement.makeReady()
    } catch {
      try? replacement.cancel()
      throw error
    }
    try replacement.finish()
    withExtendedLifetime(lock) {}
  }

  private static func unpack(_ input: OpenFile, into directory: OpenDirectory, of app: FileName?) throws(FileError) {
    let output = try MemoryFile()
    let outcome = try Tar.run(
      [
        "--extract", "--gzip", "--no-same-owner", "--no-same-permissions", "--keep-old-files", "--delay-directory-restore",
        "--no-acls", "--no-selinux", "--no-xattrs", "--warning=no-timestamp", "--file=-",
      ] + (app.map { ["--label=\($0)"] } ?? []), in: directory, input: input.number, output: output.number)
    // The language is set. tar looks at the label before it writes anything.
    if !outcome.isSuccess, let app, ["not labeled to match", "does not match"].contains(where: outcome.message.contains) {
      // It says so of any bytes, and what is not an archive is not another app's either.
      if lseek(input.number, 0, SEEK_SET) == 0 {
        let names = try MemoryFile()
        let list = try Tar.run(["--list", "--gzip", "--file=-"], in: directory, input: input.number, output: names.number)
        guard list.isSuccess, lseek(names.number, 0, SEEK_END) > 0 else {
          throw FileError(.archiveRefused, Self.firstLine(list.message) ?? "it is empty")
        }
      }
      throw FileError(.archiveOfAnotherApp, "\(app)")
    }
    // It takes the first `/` from a name and goes on, with a word on standard error: a backup has no such names.
    guard outcome.isSuccess, outcome.message.isEmpty else {
      throw FileError(.archiveRefused, Self.firstLine(outcome.message) ?? input.path)
    }
  }

  private static func firstLine(_ text: String) -> String? { text.split(separator: "\n").first.map(String.init) }

  /// Anything but files, directories and links in the places that a backup has is refused. Rights are those of the owner alone.
  private static func check(_ directory: OpenDirectory) throws(FileError) -> Int {
    var count = 0
    func visit(_ entry: ContainerWalk.Entry) throws(FileError) -> Bool {
      let path = RelativePath(names: entry.names)
      guard DirectoryClass.of(entry.names)?.rules.isBackedUp == true else {
        throw FileError(.archiveRefused, "\(path): in no directory that is backed up")
      }
      let name = entry.names[entry.names.count - 1]
      switch entry.kind {
      case .directory: try entry.parent.setMode(0o700, of: name)
      case .file: try entry.parent.keepToOwner(name)
      case .link:
        // A link in the place of a directory of the layout would lead everything that belongs there elsewhere.
        guard entry.names.count > 1, try entry.linkStaysInside, !isOfLayout(entry.names) else {
          throw FileError(.archiveRefused, "\(path): a link that leaves the container")
        }
      case .other: throw FileError(.archiveRefused, "\(path): neither a file nor a directory")
      }
      count += 1
      return true
    }
    try withoutActuallyEscaping(visit) { visit throws(FileError) in try ContainerWalk(visit).run(directory) }
    return count
  }

  private static func isOfLayout(_ names: [FileName]) -> Bool {
    DirectoryClass.inContainer.contains { kind in
      (kind.rules.path ?? []).elementsEqual(names) { $1.bytes.elementsEqual($0.utf8) }
    }
  }

  private static func synchronize(_ directory: OpenDirectory) throws(FileError) {
    func visit(_ entry: ContainerWalk.Entry) throws(FileError) -> Bool {
      let name = entry.names[entry.names.count - 1]
      switch entry.kind {
      case .directory: try entry.parent.directory(name)?.synchronize()
      case .file: try entry.parent.file(name)?.synchronize()
      default: break
      }
      return true
    }
    try withoutActuallyEscaping(visit) { visit throws(FileError) in try ContainerWalk(visit).run(directory) }
    try directory.synchronize()
  }
}

extension OpenDirectory {
  /// Takes the rights of others, and set-user-ID, from a file.
  fileprivate func keepToOwner(_ name: FileName) throws(FileError) {
    // tar gives what the archive says, less the umask: a file that its owner may not read does not open.
    guard let status = try status(name) else { return }
    try setMode(status.mode & 0o700 | 0o600, of: name)
  }
}
