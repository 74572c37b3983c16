import CofferFiles
import CofferPropertyLists
import Glibc

/// The paths of the files of a domain.
struct DomainPaths: Sendable {
  /// The name of the domain, for messages.
  let name: String
  let directory: PreferenceDirectory
  /// The values, for people and other programs.
  let plist: String
  /// The values in force.
  let journal: String
  /// The writers' lock, and the memory that processes share.
  let lock: String
  /// A property list whose values are used as long as the domain has no file of its own.
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

  /// The property list at its path, or at the target of a symbolic link there.
  /// - Throws: See `LinkedFile`.
  func plistFile() throws(PreferenceError) -> PlistFile {
    PlistFile(path: isFollowingLinks ? try LinkedFile.resolve(plist) : plist)
  }

  /// nil if there is no property list.
  /// - Throws: As `plistFile`; `symbolicLink`, `notAFile`.
  func plistIdentity() throws(PreferenceError) -> FileIdentity? { try FileIdentity.at(try plistFile().path) }

  /// The values that another program has stored earlier. nil if there are none.
  /// - Throws: See `LinkedFile` and `PlistFile.read`.
  func firstValues() throws(PreferenceError) -> PropertyListDictionary? {
    guard let firstBase else { return nil }
    return try PlistFile(path: try LinkedFile.resolveForeign(firstBase)).read()?.values
  }
}

/// The lock file of a domain, open.
final class DomainFiles: Sendable {
  let lock: WriterLock
  let page: GenerationPage
  let isWritable: Bool
  private let inode: UInt64
  private let forkCount: Int

  private init(_ file: OpenFile, _ inode: UInt64, isWritable: Bool, _ sharing: GenerationPage.Sharing) {
    lock = WriterLock(file: file)
    page = GenerationPage(file, isWritable: isWritable, sharing: sharing)
    self.isWritable = isWritable
    self.inode = inode
    ForkCount.start()
    forkCount = ForkCount.current
  }

  /// Whether this process has opened the file. A process forked off from the one that did shares no lock with it.
  var isOwn: Bool { forkCount == ForkCount.current }

  /// - Parameter creating: Whether a missing directory and file are created.
  /// - Returns: nil if there is no lock file, or an unfinished one, in which case there is no journal either.
  /// - Throws: See `OpenFile.open` and `PreferenceDirectory.make`.
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
    if status.owner != geteuid() {
      guard !creating else { throw PreferenceError(.foreignOwner, "\(paths.lock) belongs to user \(status.owner)") }
      // Root may read; files that root writes would belong to root, and the user's programs could not open them.
      isWritable = false
    }
    if status.size < GenerationPage.fileByteCount {
      guard isWritable else { return nil }
      let lock = WriterLock(file: file)
      try lock.take(within: 2000)
      defer { lock.release() }
      status = try file.status()
      if status.size < GenerationPage.fileByteCount {
        // Written instead of only extended: if the disk has no room for a mapped page, writing to it raises SIGBUS.
        try file.write([UInt8](repeating: 0, count: GenerationPage.fileByteCount), at: 0)
      }
    }
    return DomainFiles(file, status.inode, isWritable: isWritable, sharing)
  }

  /// Whether the file was deleted.
  var isDeleted: Bool { ((try? lock.file.status())?.links ?? 0) == 0 }

  /// Whether the file is still at its path: a process that locks a deleted file excludes no other.
  func isInPlace(_ paths: DomainPaths) -> Bool {
    (try? FileIdentity.at(paths.lock))?.inode == inode
  }
}
