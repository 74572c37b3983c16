import CofferFiles
package import CofferSync
import Glibc
import SecretMemory
import VaultCore

/// The files of a device in one space, in the state directory of the user. They are sealed under a key of the vault.
///
/// One process writes them at a time: it has a lock as long as this value lives, or until `rest`. The state is replaced as a whole, so
/// that others read it without the lock.
package final class StateFiles {
  private static let magic = Array("CofferR1".utf8)
  private static let stateName = FileName(constant: "state")
  private static let planName = FileName(constant: "plan")

  private let directory: OpenDirectory
  private let log: OpenDirectory
  private let objects: OpenDirectory
  private var lock: DirectoryLock?
  /// The file with the state as this process has read or written it last.
  private var seen: FileStatus?
  private let keys: DeviceKeys
  /// The entries that lie in the directory, by their numbers.
  private var kept: [UInt64: FileName] = [:]
  /// Whether there are entries of a history that was left.
  private var hasForgotten = false

  /// - Parameters:
  ///   - keys: The keys of the device.
  ///   - state: The state directory of the user.
  ///   - isMade: Whether directories that are missing are made.
  ///   - isLocked: False to read the state alone, also while another process has the lock.
  /// - Throws: `stateMissing`; `otherCommand`, if another process has the lock for 10 s; errors of the system.
  package init(_ keys: DeviceKeys, in state: String, isMade: Bool = false, isLocked: Bool = true) throws {
    self.keys = keys
    let path = Path.join(Path.join(state, "sync"), keys.space.description)
    guard let directory = try OpenDirectory.root(path, isMade: isMade) else { throw SyncError(.stateMissing, path) }
    self.directory = directory
    lock = try isLocked ? Self.lock(directory) : nil
    log = try directory.makeDirectory(FileName(constant: "log"))
    objects = try directory.makeDirectory(FileName(constant: "objects"))
  }

  private static func lock(_ directory: OpenDirectory) throws -> DirectoryLock {
    do {
      return try DirectoryLock(of: directory)
    } catch {
      guard error.code == .busy else { throw error }
      throw SyncError(.otherCommand, directory.path)
    }
  }

  /// Leaves the files to other processes.
  func rest() { lock = nil }

  /// - Returns: Whether the state is as this process has left it.
  /// - Throws: `otherCommand`; `stateMissing`, if another process has removed the files; errors of the system.
  func resume() throws -> Bool {
    if lock == nil { lock = try Self.lock(directory) }
    guard try directory.status(Self.stateName) != nil else { throw SyncError(.stateMissing, directory.path) }
    return try isCurrent()
  }

  /// Whether the state is as this process has read or written it last.
  /// - Throws: errors of the system.
  func isCurrent() throws -> Bool { try directory.status(Self.stateName) == seen }

  /// Whether the disk has room for the state, which is replaced as a whole. True if it does not say.
  package func hasRoom() throws -> Bool {
    var disk = statvfs()
    guard unsafe fstatvfs(directory.number, &disk) == 0 else { throw FileError(errno: errno, directory.path) }
    return disk.f_blocks == 0 || UInt64(disk.f_bavail) * UInt64(disk.f_frsize) >= UInt64(seen?.size ?? 0)
  }

  /// Removes the files of this device.
  package func remove() throws {
    try directory.removeContents()
    try OpenDirectory.root(Path.parent(of: directory.path), isMade: false)?
      .remove(FileName(Path.name(of: directory.path)), isDirectory: true)
  }

  // MARK: Sealing

  private func frameKey(_ file: FileName, _ index: Int) throws -> Key {
    guard let key = Key(try keys.state.secret.duplicate()) else { throw SyncError(.keysMalformed) }
    var context = Context("sync-file")
    context.append(keys.space)
    context.append(UInt64(index))
    context.appendCounted(Array(file.description.utf8))
    return try key.derive(context)
  }

  private func write(_ name: FileName, _ body: ((LockedBytes) throws -> Void) throws -> Void) throws {
    let path = directory.below(name)
    guard lock != nil else { throw SyncError(.otherCommand, directory.path) }
    for leftover in TemporaryName.leftovers(of: name.description, in: directory.path) { try? Files<FileError>.remove(leftover) }
    let new = try NewFile<FileError>(at: TemporaryName.next(for: path), named: path)
    try new.file.write(Self.magic)
    var index = 0
    try body { frame in
      let box = try SecretBox.seal(frame.secret, key: frameKey(name, index))
      index += 1
      try new.file.write(UInt32(box.count).littleEndianBytes + box)
    }
    try new.file.synchronize()
    _ = try new.replace(path)
    try directory.synchronize()
  }

  /// - Returns: The next frame each time, nil at the end; nil if there is no file.
  private func frames(of name: FileName) throws -> (() throws -> LockedBytes?)? {
    guard let file = try directory.file(name) else { return nil }
    var (offset, index) = (Self.magic.count, 0)
    guard try file.read(at: 0, count: offset) == Self.magic else { throw SyncError(.stateMalformed, file.path) }
    return { [self] in
      let length = try file.read(at: offset, count: 4)
      guard !length.isEmpty else { return nil }
      guard length.count == 4 else { throw SyncError(.stateMalformed, file.path) }
      let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
      guard SecretBox.isBoxCount(count) else { throw SyncError(.stateMalformed, file.path) }
      let box = try file.read(at: offset + 4, count: count)
      offset += 4 + count
      defer { index += 1 }
      do {
        return LockedBytes(try SecretBox.open(box, key: frameKey(name, index)))
      } catch VaultError.Code.sealBroken, VaultError.Code.paddingNotCanonical, VaultError.Code.recordMalformed {
        throw SyncError(.stateMalformed, file.path)
      }
    }
  }

  /// Hands on frames of whole elements. A row is long if many values of its item conflict.
  static func frames<Element>(
    _ elements: [Element], _ body: (LockedBytes) throws -> Void, write: (Element, inout BodyWriter) -> Void
  ) throws {
    var writer = BodyWriter()
    for element in elements {
      write(element, &writer)
      guard writer.count >= Replica.storedPartByteCount else { continue }
      try body(writer.finish())
    }
    if writer.count > 0 { try body(writer.finish()) }
  }

  // MARK: The state

  /// Entries and objects first, because the state names them.
  package func save(_ state: LocalState) throws {
    try saveEntries(state.replica)
    try saveObjects(state.replica)
    try write(Self.stateName) { add in
      try add(state.header())
      try Self.frames(state.rows.sorted { $0.key < $1.key }, add) { row, writer in
        writer.append(row.key)
        row.value.write(to: &writer)
      }
      try state.replica.store(add)
    }
    removeEntries(except: state.replica)
    try removeObjects(except: state.replica)
    seen = try directory.status(Self.stateName)
  }

  /// - Throws: `stateMissing`, `stateMalformed`; `StoredReplicaError`; errors of the system.
  package func load(_ values: ValueKey) throws -> LocalState {
    while true {
      let former = try directory.status(Self.stateName)
      do {
        return try read(values)
      } catch let error as StoredReplicaError {
        // If the process with the lock has replaced the state, it has removed what the former one named.
        guard lock == nil, case .objectMissing = error, try directory.status(Self.stateName) != former else { throw error }
      }
    }
  }

  private func read(_ values: ValueKey) throws -> LocalState {
    guard let next = try frames(of: Self.stateName) else { throw SyncError(.stateMissing, directory.path) }
    do {
      guard let first = try next() else { throw VoidCause.form }
      let header = try LocalState.Header(reading: first)
      var rows: [Identifier: KnownRow] = [:]
      while rows.count < header.rowCount {
        guard let frame = try next(), frame.count > 0 else { throw VoidCause.form }
        var reader = BodyReader(frame)
        while reader.remaining > 0 {
          let tag = try reader.readIdentifier()
          guard rows.updateValue(try KnownRow(reading: &reader), forKey: tag) == nil else { throw VoidCause.form }
        }
      }
      var names: [UInt64: FileName] = [:]
      let replica = try Replica(
        restoring: keys.identity, values,
        entry: { number, name in
          let file = try Self.name(number, name)
          names[number] = file
          return try log.contents(file, limit: 1 << 20)
        }, object: object, nextPart: next)
      seen = try directory.status(Self.stateName)
      kept = names
      return LocalState(header, rows: rows, replica)
    } catch is VoidCause {
      throw SyncError(.stateMalformed, directory.path)
    }
  }

  // MARK: Entries and objects

  /// Two histories have other entries with one number. Those of both lie in the directory until the state is replaced.
  private static func name(_ number: UInt64, _ entry: ObjectName) throws -> FileName {
    try FileName("\(TemporaryName.hexadecimal(number))-\(entry.hexadecimal.prefix(32))")
  }

  private static func name(_ object: ObjectName) throws -> FileName { try FileName(object.hexadecimal) }

  private func object(_ name: ObjectName) throws -> [UInt8]? {
    try objects.contents(Self.name(name), limit: ObjectSealer.maximumByteCount)
  }

  /// They are not synchronised: one that is lost is only not there to mend an engine that was put back.
  private func saveEntries(_ replica: Replica) throws {
    for entry in replica.keptEntries where kept[entry.number] == nil {
      let name = try Self.name(entry.number, ObjectName(of: entry.bytes))
      if try log.contents(name, limit: 1 << 20) != entry.bytes {
        try? log.remove(name)
        try log.makeFile(name).write(entry.bytes)
      }
      kept[entry.number] = name
    }
  }

  /// After the state was replaced: until then a crash leaves the former one, which names the former entries.
  private func removeEntries(except replica: Replica) {
    let first = replica.keptEntries.first?.number ?? replica.count
    for (number, name) in kept where number < first || number >= replica.count {
      try? log.remove(name)
      kept[number] = nil
    }
    guard hasForgotten else { return }
    let needed = Set(kept.values)
    for name in (try? log.names()) ?? [] where !needed.contains(name) { try? log.remove(name) }
    hasForgotten = false
  }

  /// The next `save` writes all entries: they are of another history.
  func forgetEntries() { (kept, hasForgotten) = ([:], true) }

  private func saveObjects(_ replica: Replica) throws {
    var hasNew = false
    for (name, bytes) in replica.keptObjects where try object(name) != bytes {
      let path = objects.below(try Self.name(name))
      let new = try NewFile<FileError>(at: TemporaryName.next(for: path), named: path)
      try new.file.write(bytes)
      try new.file.synchronize()
      _ = try new.replace(path)
      hasNew = true
    }
    if hasNew { try objects.synchronize() }
  }

  private func removeObjects(except replica: Replica) throws {
    let needed = Set(try replica.keptObjects.keys.map { try Self.name($0) })
    for name in try objects.names() where !needed.contains(name) { try? objects.remove(name) }
  }

  // MARK: The plan

  /// Notes what is about to be written into the vault.
  func save(_ plan: Plan) throws { try write(Self.planName) { try plan.store($0) } }

  func plan() throws -> Plan? {
    guard let next = try frames(of: Self.planName) else { return nil }
    do {
      return try Plan(nextPart: next)
    } catch is VoidCause {
      throw SyncError(.stateMalformed, directory.below(Self.planName))
    }
  }

  func hasPlan() throws -> Bool { try directory.status(Self.planName) != nil }

  func removePlan() throws {
    if try hasPlan() { try directory.remove(Self.planName) }
  }
}
