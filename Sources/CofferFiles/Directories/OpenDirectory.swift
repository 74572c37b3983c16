internal import CLinux
internal import Glibc

/// An open directory, closed with this object. All that happens below it goes through its descriptor, one name at a time and
/// never through a symbolic link: a process that exchanges a directory or plants a link meanwhile moves nothing to another place.
package final class OpenDirectory: Sendable {
  package let number: Int32
  /// For messages.
  package let path: String

  private init(_ number: Int32, _ path: String) {
    self.number = number
    self.path = path
  }

  deinit { close(number) }

  private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK

  // MARK: Opening

  /// A directory at a path of the user, which may contain links, as a home directory does. If it does not exist, it is created
  /// with its parents, for this user alone.
  /// - Throws: `foreignOwner`, `permissionsTooOpen` if other users could replace its entries; errors of the system.
  package static func root(_ path: String, isMade: Bool) throws(FileError) -> OpenDirectory? {
    var opened = retrying { unsafe open(path, flags) }
    if opened.errno == ENOENT {
      guard isMade else { return nil }
      try Files<FileError>.makeDirectory(path)
      opened = retrying { unsafe open(path, flags) }
    }
    guard opened.result >= 0 else { throw FileError(errno: opened.errno, path) }
    let directory = OpenDirectory(opened.result, path)
    try directory.checkOwner()
    return directory
  }

  /// A directory that is read and not believed: it may be anybody's.
  package static func foreign(_ path: String) throws(FileError) -> OpenDirectory {
    let opened = retrying { unsafe open(path, flags) }
    guard opened.result >= 0 else { throw FileError(errno: opened.errno, path) }
    return OpenDirectory(opened.result, path)
  }

  /// Another user could exchange a directory of their own, and root leaves nothing in one.
  private func checkOwner() throws(FileError) {
    let status = try status()
    guard status.owner == geteuid() else {
      throw FileError(.foreignOwner, "\(path) belongs to user \(status.owner)")
    }
    guard status.mode & 0o002 == 0 || status.mode & 0o1000 != 0 else {
      throw FileError(.permissionsTooOpen, "\(path): everybody may write to it")
    }
  }

  /// Returns nil if there is none.
  /// - Throws: `symbolicLink`, `notADirectory`; what the system says.
  package func directory(_ name: FileName) throws(FileError) -> OpenDirectory? {
    let opened = retrying { unsafe openat(number, name.terminated, Self.flags | O_NOFOLLOW) }
    guard opened.result >= 0 else {
      if opened.errno == ENOENT { return nil }
      // With O_DIRECTORY the kernel reports a link as no directory; the message names the link.
      if opened.errno == ENOTDIR, try kind(name) == .link { throw FileError(.symbolicLink, below(name)) }
      throw FileError(errno: opened.errno, below(name))
    }
    return OpenDirectory(opened.result, below(name))
  }

  /// For this user alone, whatever the umask says. One that is there stays as it is.
  /// - Throws: `symbolicLink`, `notADirectory`; what the system says.
  package func makeDirectory(_ name: FileName, mode: UInt32 = 0o700) throws(FileError) -> OpenDirectory {
    let isNew = unsafe mkdirat(number, name.terminated, mode) == 0
    if !isNew, errno != EEXIST { throw FileError(errno: errno, below(name)) }
    guard let directory = try directory(name) else { throw FileError(.missing, below(name)) }
    if isNew { try directory.setMode(mode) }
    return directory
  }

  /// Returns nil if one of them is missing.
  package func directory(_ path: [FileName]) throws(FileError) -> OpenDirectory? {
    var here = self
    for name in path {
      guard let next = try here.directory(name) else { return nil }
      here = next
    }
    return here
  }

  // MARK: Entries

  /// Returns nil if there is nothing of this name.
  package func kind(_ name: FileName) throws(FileError) -> FileStatus.Kind? { try status(name)?.kind }

  package func status(_ name: FileName) throws(FileError) -> FileStatus? {
    var status = stat()
    guard unsafe fstatat(number, name.terminated, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      let error = errno
      if error == ENOENT { return nil }
      throw FileError(errno: error, below(name))
    }
    return FileStatus(status)
  }

  package func status() throws(FileError) -> FileStatus { try Files<FileError>.status(of: number, path) }

  /// In the order of their bytes.
  package func names() throws(FileError) -> [FileName] {
    var names: [[UInt8]] = []
    try forEachName { names.append($0) }
    var sorted: [FileName] = []
    for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) { sorted.append(try FileName(bytes: name)) }
    return sorted
  }

  /// In the order of the file system.
  package func forEachName(_ body: ([UInt8]) -> Void) throws(FileError) {
    let copy = retrying { unsafe openat(number, ".", Self.flags) }
    guard copy.result >= 0 else { throw FileError(errno: copy.errno, path) }
    guard let stream = unsafe fdopendir(copy.result) else {
      let error = FileError(errno: errno, path)
      close(copy.result)
      throw error
    }
    defer { unsafe closedir(stream) }
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if name != [UInt8(ascii: ".")], name != Array("..".utf8) { body(name) }
    }
    guard errno == 0 else { throw FileError(errno: errno, path) }
  }

  // MARK: Changing it

  /// - Parameter isReplacing: Whether a file or an empty directory of the new name may be there.
  package func rename(_ name: FileName, to new: FileName, in target: OpenDirectory? = nil, isReplacing: Bool = false)
    throws(FileError)
  {
    let target = target ?? self
    if !isReplacing, try target.kind(new) != nil { throw FileError(.exists, target.below(new)) }
    guard unsafe renameat(number, name.terminated, target.number, new.terminated) == 0 else {
      throw FileError(errno: errno, below(name))
    }
  }

  /// As `Files.renameWithoutReplacing`: of several processes that give files one name, one does it.
  /// - Returns: false if the new name is taken.
  package func renameWithoutReplacing(_ name: FileName, to new: FileName, in target: OpenDirectory) throws(FileError) -> Bool {
    let number = unsafe renamingExclusively(number, name.terminated, target.number, new.terminated)
    guard number == 0 || number == EEXIST else { throw FileError(errno: number, target.below(new)) }
    return number == 0
  }

  /// Removes a file, a link or an empty directory. Does nothing if it does not exist.
  package func remove(_ name: FileName, isDirectory: Bool = false) throws(FileError) {
    guard unsafe unlinkat(number, name.terminated, isDirectory ? AT_REMOVEDIR : 0) == 0 || errno == ENOENT else {
      throw FileError(errno: errno, below(name))
    }
  }

  package func setMode(_ mode: UInt32) throws(FileError) {
    guard fchmod(number, mode) == 0 else { throw FileError(errno: errno, path) }
  }

  /// Sets the permission bits of a file in it; never those of the file to which a link leads.
  package func setMode(_ mode: UInt32, of name: FileName) throws(FileError) {
    guard unsafe fchmodat(number, name.terminated, mode, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw FileError(errno: errno, below(name))
    }
  }

  /// Names that were made or removed are on the disk when it returns.
  package func synchronize() throws(FileError) {
    let synced = retrying { fsync(number) }
    // EINVAL: a file system that has none for directories.
    guard synced.result == 0 || synced.errno == EINVAL else { throw FileError(errno: synced.errno, path) }
  }

  package func below(_ name: FileName) -> String { Path.join(path, name.description) }
}
