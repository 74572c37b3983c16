import Glibc
import PropertyLists

/// Where the files of a domain lie.
struct DomainPaths: Sendable {
  /// Of the domain, for messages.
  let name: String
  let directory: PreferenceDirectory
  /// The values for people and other programs.
  let plist: String
  /// The values as they are.
  let journal: String
  /// The writers' lock, and what processes share.
  let lock: String
  /// A property list that holds the values as long as the domain has no file of its own.
  let firstBase: String?
  private let isFollowingLinks: Bool

  init(
    _ name: DomainName, in directory: PreferenceDirectory, firstBase: String? = nil, isFollowingLinks: Bool = false
  ) {
    self.name = name.name
    self.directory = directory
    plist = directory.file(name.fileName + ".plist")
    journal = directory.file(name.fileName + ".journal")
    lock = directory.file(name.fileName + ".lock")
    self.firstBase = firstBase
    self.isFollowingLinks = isFollowingLinks
  }

  /// The property list at its path, or at the end of the links there.
  /// - Throws: see `LinkedFile`.
  func plistFile() throws(PreferenceError) -> PlistFile {
    PlistFile(path: isFollowingLinks ? try LinkedFile.resolve(plist) : plist)
  }

  /// Nil where there is none.
  /// - Throws: As `plistFile`; `symbolicLink`, `notAFile`.
  func plistIdentity() throws(PreferenceError) -> FileIdentity? { try FileIdentity.at(try plistFile().path) }

  /// What another program has stored before this one did. Nil where there is nothing.
  /// - Throws: see `LinkedFile` and `PlistFile.read`.
  func firstValues() throws(PreferenceError) -> PropertyListDictionary? {
    guard let firstBase else { return nil }
    return try PlistFile(path: try LinkedFile.resolveForeign(firstBase)).read()?.values
  }
}

/// The lock file of a domain, open.
final class DomainFiles: Sendable {
  let lock: FileLock
  let page: GenerationPage
  let isWritable: Bool
  private let inode: UInt64
  private let forkCount: Int

  private init(_ file: OpenFile, _ inode: UInt64, isWritable: Bool, _ sharing: GenerationPage.Sharing) {
    lock = FileLock(file: file)
    page = GenerationPage(file, isWritable: isWritable, sharing: sharing)
    self.isWritable = isWritable
    self.inode = inode
    ForkCount.start()
    forkCount = ForkCount.current
  }

  /// Whether this process has opened it, and not one that it was forked off from: then it shares no lock.
  var isOwn: Bool { forkCount == ForkCount.current }

  /// - Parameter creating: The directory and the file are made where they are not there.
  /// - Returns: Nil where there is no lock file, or one that cannot be used yet: then nobody has written through a journal.
  /// - Throws: see `OpenFile.open` and `PreferenceDirectory.make`.
  static func open(_ paths: DomainPaths, creating: Bool, _ sharing: GenerationPage.Sharing) throws(PreferenceError)
    -> DomainFiles?
  {
    if creating { try paths.directory.make() }
    var isWritable = creating || !paths.directory.isOpenToAll
    var opened: OpenFile?
    do throws(PreferenceError) {
      opened = try OpenFile.open(paths.lock, creating ? O_RDWR | O_CREAT : O_RDWR)
    } catch {
      guard !creating, error.code == .accessDenied || error.code == .readOnly else { throw error }
      isWritable = false
      opened = try OpenFile.open(paths.lock, O_RDONLY)
    }
    guard let file = opened else { return nil }
    var status = try file.status()
    if status.st_uid != geteuid() {
      guard !creating else { throw PreferenceError(.foreignOwner, "\(paths.lock) belongs to user \(status.st_uid)") }
      // Root may look, but what it wrote would be its own, and closed to the programs of the user.
      isWritable = false
    }
    if status.st_size < GenerationPage.fileByteCount {
      guard isWritable else { return nil }
      let lock = FileLock(file: file)
      try lock.take(within: 2000)
      defer { lock.release() }
      status = try file.status()
      if status.st_size < GenerationPage.fileByteCount {
        // Written, not only made longer: a mapped page that has no room on the disk ends whoever writes to it.
        try file.write([UInt8](repeating: 0, count: GenerationPage.fileByteCount), at: 0)
      }
    }
    return DomainFiles(file, UInt64(status.st_ino), isWritable: isWritable, sharing)
  }

  /// Whether it has no name any more.
  var isDeleted: Bool { ((try? lock.file.status())?.st_nlink ?? 0) == 0 }

  /// Whether the file still lies at its path: whoever waits for the lock of a deleted file waits alone.
  func isInPlace(_ paths: DomainPaths) -> Bool {
    (try? FileIdentity.at(paths.lock))?.inode == inode
  }
}
