package import CofferFiles
package import CofferSync
import Glibc
package import VaultCore

/// An engine in a directory: of a disk, or of a file server. Section 9 of docs/sync-format.md.
///
/// An entry is written under another name, and renamed without replacing: it is whole when it has its name, and of several writers
/// one gets the number. The directory may be anybody's, and all that is in it may be false.
package final class DirectoryEngine: WaitingEngine {
  /// A read ends after so many bytes, at an entry.
  package static let batchByteCount = 8 << 20
  /// The age, in nanoseconds, of files that killed processes have left.
  private static let leftoverAge: Int64 = 86_400_000_000_000

  private let log: OpenDirectory
  private let objects: OpenDirectory
  /// The files that are being written.
  private let unfinished: OpenDirectory
  /// Whether the file system counts the links of directories: one that was removed has none.
  private let countsLinks: Bool
  private var hasRemovedLeftovers = false
  /// From the first waiting on.
  private var events: FileEvents?
  private let temporary: (spaces: OpenDirectory, name: FileName)?

  /// - Parameters:
  ///   - path: A directory that exists.
  ///   - purpose: Whether directories of a space that are missing are made. Only for a new space: if the file system of the directory is
  ///     not mounted, an empty place must not be taken for a log that was put back.
  /// - Throws: `missing`, `symbolicLink`, `notADirectory`; errors of the system.
  package init(_ path: String, space: Identifier, _ purpose: EngineAddress.Purpose = .existing) throws(FileError) {
    let isMade = purpose.isMade
    var spaces = try OpenDirectory.foreign(path)
    for name in [FileName(constant: "coffer"), FileName(constant: "1")] { spaces = try Self.directory(name, in: spaces, isMade) }
    let name = try FileName(space.description)
    let place = try Self.directory(name, in: spaces, isMade)
    temporary = purpose == .temporary ? (spaces, name) : nil
    log = try Self.directory(FileName(constant: "log"), in: place, isMade)
    countsLinks = try log.status().links > 0
    // A copy may lack directories that were empty. Where entries are, the file system is mounted.
    let isLog = if isMade { true } else { try Self.hasEntries(log) }
    objects = try Self.directory(FileName(constant: "obj"), in: place, isLog)
    unfinished = try Self.directory(FileName(constant: "new"), in: place, isLog)
  }

  deinit {
    if let temporary { try? temporary.spaces.removeTree(temporary.name) }
  }

  private static func hasEntries(_ log: OpenDirectory) throws(FileError) -> Bool {
    var hasSome = false
    try log.forEachName { hasSome = hasSome || $0.count == 16 && UInt64(String(decoding: $0, as: UTF8.self), radix: 16) != nil }
    return hasSome
  }

  /// A directory that is made is open to the users for whom the one above it is.
  private static func directory(_ name: FileName, in parent: OpenDirectory, _ isMade: Bool) throws(FileError) -> OpenDirectory {
    guard isMade else {
      guard let directory = try parent.directory(name) else { throw FileError(.missing, parent.below(name)) }
      return directory
    }
    let directory = try parent.makeDirectory(name, mode: parent.status().mode & 0o3777 | 0o700)
    try parent.synchronize()
    return directory
  }

  // MARK: Names

  private static func name(of number: UInt64) throws(FileError) -> FileName {
    try FileName(TemporaryName.hexadecimal(number))
  }

  private static func name(of object: ObjectName) throws(FileError) -> FileName {
    try FileName(object.hexadecimal)
  }

  // MARK: The log

  package func append(_ number: UInt64, _ entry: [UInt8]) throws(FileError) -> Appended {
    if number > 0, try log.status(Self.name(of: number - 1)) == nil { return .shorter }
    let name = try Self.name(of: number)
    if try log.status(name) != nil { return .taken }
    return try write(entry, name, in: log, isReplacing: false) ? .made : .taken
  }

  package func read(from number: UInt64, limit: Int) throws(FileError) -> [NumberedEntry] {
    var entries: [NumberedEntry] = []
    var byteCount = 0
    var next = number
    var hasRoom: Bool { entries.count < limit && byteCount < Self.batchByteCount && next < 1 << 62 }
    /// Takes the entries from `next` on, up to the first that is missing.
    func takeRun() throws(FileError) {
      while hasRoom, let bytes = try entry(next) {
        entries.append(NumberedEntry(next, bytes))
        byteCount += bytes.count
        next += 1
      }
    }
    try takeRun()
    if hasRoom {
      // It is the end, or entries were deleted. The list may lack an entry that was appended meanwhile, and have the one after it.
      for following in try numbers(from: next) where hasRoom && following >= next {
        try takeRun()
        next = max(next, following)
        try takeRun()
      }
    }
    // An entry that a power loss could take away again must not be folded: another would get its number.
    if !entries.isEmpty { try log.synchronize() }
    // The directory of a mailbox, or one that was replaced while it is open, is not an empty log.
    if entries.isEmpty, countsLinks, try log.status().links == 0 { throw FileError(.missing, log.path) }
    return entries
  }

  /// - Returns: nil if there is none. A directory, link or pipe is garbage, as a file with other bytes: it stops no device.
  private func entry(_ number: UInt64) throws(FileError) -> [UInt8]? {
    do {
      guard let file = try log.file(Self.name(of: number)) else { return nil }
      // One byte too many shows that it is too long.
      return try file.read(at: 0, count: min(file.byteCount, SealedEntry.maximumByteCount + 1))
    } catch  where error.code == .notAFile || error.code == .symbolicLink {
      return []
    }
  }

  private func numbers(from first: UInt64) throws(FileError) -> [UInt64] {
    var numbers: [UInt64] = []
    // A name of another form leads to a number as well; then no file has the name of the number.
    try log.forEachName { name in
      if let number = UInt64(String(decoding: name, as: UTF8.self), radix: 16), number >= first { numbers.append(number) }
    }
    return numbers.sorted()
  }

  // MARK: Waiting

  package func beginWaiting(for number: UInt64) -> LogSign {
    if events == nil {
      let events = FileEvents()
      // The directory that is open, even if another one is at its path by now.
      if events.descriptor >= 0, events.watch("/proc/self/fd/\(log.number)", for: UInt32(IN_MOVED_TO | IN_CREATE)) >= 0 {
        self.events = events
      }
    }
    // A file server tells nothing of the writes of other machines.
    return LogSign(descriptor: events?.descriptor, milliseconds: 5_000)
  }

  /// Drops the events, before a look at the log.
  package func clearSign() { events?.clear() }

  /// Whether the log has an entry, or lacks the one before it: then it was put back.
  package func mayHave(_ number: UInt64) throws(FileError) -> Bool {
    if number > 0, try log.status(Self.name(of: number - 1)) == nil { return true }
    return try log.status(Self.name(of: number)) != nil
  }

  // MARK: Objects

  /// An object that is there is replaced if it is damaged.
  package func put(_ name: ObjectName, _ object: [UInt8]) throws(FileError) {
    let isThere: Bool
    do { isThere = try get(name) == object } catch { isThere = false }
    // Another process may have made it a moment ago.
    if isThere { return try objects.synchronize() }
    _ = try write(object, Self.name(of: name), in: objects, isReplacing: true)
  }

  /// - Throws: `tooLarge`, `symbolicLink`, `notAFile`; errors of the system.
  package func get(_ name: ObjectName) throws(FileError) -> [UInt8]? {
    try objects.contents(Self.name(of: name), limit: ObjectSealer.maximumByteCount)
  }

  package func names(after last: ObjectName?) throws(FileError) -> [ObjectName] {
    var names: [ObjectName] = []
    try objects.forEachName { name in
      guard let name = ObjectName(hexadecimal: String(decoding: name, as: UTF8.self)) else { return }
      if last.map({ $0 < name }) ?? true { names.append(name) }
    }
    return Array(names.sorted().prefix(ObjectName.pageCount))
  }

  // MARK: Deleting

  package func delete(_ names: [ObjectName]) throws(FileError) {
    try Self.delete(names.map(Self.name), in: objects)
  }

  package func deleteEntries(_ ranges: [Range<UInt64>]) throws(FileError) {
    // The directory has few of the numbers that a range may have.
    let deleted = try numbers(from: 0).filter { number in ranges.contains { $0.contains(number) } }
    try Self.delete(deleted.map(Self.name), in: log)
  }

  private static func delete(_ names: [FileName], in directory: OpenDirectory) throws(FileError) {
    var failure: FileError?
    for name in names {
      do {
        try directory.remove(name)
      } catch {
        // Another device may have deleted it. One that cannot be deleted, such as a directory, keeps no other.
        if error.code != .missing { failure = failure ?? error }
      }
    }
    if let failure { throw failure }
  }

  // MARK: Writing

  /// Gives a file its name when its content is on the disk, and returns when the name is.
  /// - Returns: False if the name is taken.
  private func write(_ bytes: [UInt8], _ name: FileName, in directory: OpenDirectory, isReplacing: Bool) throws(FileError) -> Bool
  {
    let temporary = try FileName(Path.name(of: TemporaryName.next(for: name.description)))
    // The users for whom the directory is open can read it, whatever the umask says.
    let file = try unfinished.makeFile(temporary, mode: directory.status().mode & 0o444 | 0o400)
    var hasName = false
    defer { if !hasName { try? unfinished.remove(temporary) } }
    try removeLeftovers(of: file.status().modified)
    try file.write(bytes)
    try file.synchronize()
    if isReplacing {
      try unfinished.rename(temporary, to: name, in: directory, isReplacing: true)
      hasName = true
    } else {
      hasName = try unfinished.renameWithoutReplacing(temporary, to: name, in: directory)
    }
    if hasName { try directory.synchronize() }
    return hasName
  }

  /// - Parameter now: The time by the clock of the file system, which may be on another machine.
  private func removeLeftovers(of now: Int64) throws(FileError) {
    guard !hasRemovedLeftovers else { return }
    hasRemovedLeftovers = true
    for name in try unfinished.names() where TemporaryName.name(of: name.description) != nil {
      guard let status = try unfinished.status(name), status.kind == .file, status.modified < now - Self.leftoverAge else {
        continue
      }
      // Another user's file may have to stay.
      try? unfinished.remove(name)
    }
  }
}
