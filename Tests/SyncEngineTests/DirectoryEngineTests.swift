import Children
import CofferFiles
import CofferSync
import CofferTesting
import Glibc
import SecretMemory
import SyncEngines
import Testing
import VaultCore

/// The engine in a directory: the entries and objects that it keeps, and files that are not its own.
@Suite struct DirectoryEngineTests {
  @Test func anEntryIsMadeOnceAndBehindTheOneBefore() throws {
    let place = try Place()
    let engine = try place.engine()
    #expect(try engine.append(1, [1]) == .shorter)
    #expect(try engine.append(0, [0]) == .made)
    #expect(try engine.append(0, [9]) == .taken)
    #expect(try engine.append(1, [1]) == .made)
    #expect(try engine.append(3, [3]) == .shorter)
    #expect(try engine.append(.max, [3]) == .shorter)
    #expect(try engine.read(from: 0, limit: 500) == [NumberedEntry(0, [0]), NumberedEntry(1, [1])])
    #expect(try place.engine().read(from: 1, limit: 500) == [NumberedEntry(1, [1])])
    #expect(try engine.read(from: 0, limit: 1) == [NumberedEntry(0, [0])])
    for number in [2, 1 << 62, UInt64.max] { #expect(try engine.read(from: number, limit: 500) == []) }
    #expect(place.names(place.unfinished) == [])
  }

  @Test func deletedEntriesArePassedOver() throws {
    let place = try Place()
    let engine = try place.engine()
    for number in UInt64(0)..<12 { #expect(try engine.append(number, [UInt8(number)]) == .made) }
    for number in [UInt64(1), 2, 3, 5, 6, 8] { unsafe unlink(place.file(number)) }
    #expect(try engine.read(from: 0, limit: 500).map(\.number) == [0, 4, 7, 9, 10, 11])
    #expect(try engine.read(from: 2, limit: 3).map(\.number) == [4, 7, 9])
    #expect(try engine.read(from: 0, limit: 1).map(\.number) == [0])
  }

  @Test func entriesAndObjectsAreDeleted() throws {
    let place = try Place()
    let engine = try place.engine()
    for number in UInt64(0)..<12 { #expect(try engine.append(number, [UInt8(number)]) == .made) }
    try engine.deleteEntries([1..<4, 6..<9, 100..<(1 << 62)])
    try engine.deleteEntries([1..<4])
    #expect(try engine.read(from: 0, limit: 500).map(\.number) == [0, 4, 5, 9, 10, 11])
    #expect(try engine.append(3, [3]) == .shorter && engine.append(1, [1]) == .made)
    let names = (UInt8(0)..<3).map { ObjectName(of: [$0]) }
    for (byte, name) in zip(UInt8(0)..., names) { try engine.put(name, [byte]) }
    for name in ["x", "+" + names[0].hexadecimal.dropFirst(), names[0].hexadecimal.uppercased()] {
      try place.write([1], at: "\(place.objects)/\(name)")
    }
    #expect(try engine.names(after: nil) == names.sorted() && engine.names(after: names.sorted()[1]) == [names.sorted()[2]])
    try engine.delete([names[1], names[1], ObjectName(of: [9])])
    #expect(try engine.allNames() == [names[0], names[2]] && engine.get(names[1]) == nil)
    // A directory in the place of one keeps no other.
    let first = ObjectName(digest: .zero)
    run("mkdir", "\(place.objects)/\(first.hexadecimal)")
    #expect(throws: FileError.self) { try engine.delete([first, names[0]]) }
    #expect(try engine.allNames() == [first, names[2]])
  }

  @Test func otherNamesAreIgnored() throws {
    let place = try Place()
    let engine = try place.engine()
    _ = try engine.append(0, [0])
    let others = [
      "x", "000000000000001", "00000000000000001", "000000000000000A", "+000000000000001", "7fffffffffffffff", "ffffffffffffffff",
      "4000000000000000", ".0000000000000001.0123456789abcdef.new", "0000000000000001.tmp", "\u{fc}",
      String(repeating: "0", count: 255),
    ]
    for name in others { try place.write([9], at: "\(place.log)/\(name)") }
    run("sh", "-c", "printf x > \"$(printf '\(place.log)/\\377\\376')\"; mkdir '\(place.log)/sub'")
    #expect(place.names(place.log).count == others.count + 3)
    #expect(try engine.read(from: 0, limit: 500) == [NumberedEntry(0, [0])])
    #expect(try engine.append(1, [1]) == .made)
    #expect(try engine.read(from: 0, limit: 500).map(\.number) == [0, 1])
  }

  @Test func ofALongEntryOneByteTooManyIsRead() throws {
    let place = try Place()
    let engine = try place.engine()
    try place.write([], at: place.file(0))
    #expect(unsafe truncate(place.file(0), 1 << 40) == 0)
    try place.write([], at: place.file(1))
    let entries = try engine.read(from: 0, limit: 500)
    #expect(entries.map(\.bytes.count) == [SealedEntry.maximumByteCount + 1, 0])
  }

  @Test func aReadHasALimitOfBytes() throws {
    let place = try Place()
    let engine = try place.engine()
    let entry = [UInt8](repeating: 1, count: SealedEntry.maximumByteCount)
    for number in UInt64(0)..<20 { #expect(try engine.append(number, entry) == .made) }
    #expect(try engine.read(from: 0, limit: 500).count == DirectoryEngine.batchByteCount / entry.count)
    #expect(try engine.read(from: 16, limit: 500).map(\.number) == [16, 17, 18, 19])
  }

  @Test func objectsAreKeptAndDamagedOnesAreReplaced() throws {
    let place = try Place()
    let engine = try place.engine()
    let object = [UInt8](repeating: 5, count: ObjectSealer.maximumByteCount)
    let name = ObjectName(of: object)
    #expect(try engine.get(name) == nil)
    try engine.put(name, object)
    #expect(try place.engine().get(name) == object)
    let file = "\(place.objects)/\(place.names(place.objects)[0])"
    let before = try Files<FileError>.existingStatus(at: file).inode
    try engine.put(name, object)
    #expect(try Files<FileError>.existingStatus(at: file).inode == before)
    for damage in ["rm '\(file)'; printf x > '\(file)'", "rm '\(file)'; ln -s /etc/passwd '\(file)'", "printf x >> '\(file)'"] {
      run("sh", "-c", damage)
      try engine.put(name, object)
      #expect(try engine.get(name) == object, "\(damage)")
    }
    run("sh", "-c", "printf x >> '\(file)'")
    #expect(code { _ = try engine.get(name) } == .tooLarge)
    #expect(place.names(place.objects).count == 1 && place.names(place.unfinished) == [])
  }

  /// A program that writes to the directory can put anything there, and stops nobody.
  @Test(arguments: ["ln -s /etc/passwd", "ln -s nowhere", "mkfifo", "mkdir"])
  func whatIsNoFileIsGarbageInThePlaceOfAnEntry(command: String) throws {
    let place = try Place()
    let engine = try place.engine()
    _ = try engine.append(0, [0])
    run("sh", "-c", "\(command) '\(place.file(1))'")
    #expect(try engine.append(1, [1]) == .taken && engine.append(2, [2]) == .made)
    #expect(try engine.read(from: 0, limit: 500) == [NumberedEntry(0, [0]), NumberedEntry(1, []), NumberedEntry(2, [2])])
    if command == "mkdir" {
      #expect(throws: FileError.self) { try engine.deleteEntries([1..<3]) }
    } else {
      try engine.deleteEntries([1..<3])
    }
    // A directory that cannot be deleted keeps no other.
    #expect(try engine.read(from: 0, limit: 500).map(\.number) == (command == "mkdir" ? [0, 1] : [0]))
  }

  @Test(arguments: ["log", "obj", "new"]) func aLinkInThePlaceOfADirectoryIsNotFollowed(name: String) throws {
    let place = try Place()
    run(
      "sh", "-c",
      "mkdir '\(place.root)/elsewhere' && rmdir '\(place.space)/\(name)' && ln -s '\(place.root)/elsewhere' '\(place.space)/\(name)'"
    )
    #expect(code { _ = try place.engine() } == .symbolicLink)
    #expect(code { _ = try DirectoryEngine(place.root, space: Place.space, .new) } == .symbolicLink)
  }

  /// The device that made a mailbox has ended.
  @Test func aDirectoryThatWasRemovedIsNoEmptyLog() throws {
    let place = try Place()
    let engine = try place.engine()
    #expect(try engine.read(from: 0, limit: 1) == [])
    run("rm", "-rf", place.space)
    #expect(code { _ = try engine.read(from: 0, limit: 1) } == .missing)
  }

  /// As if the file system were not mounted.
  @Test func anEmptyDirectoryIsNotALogThatWasPutBack() throws {
    let place = try Place()
    for missing in [place.log, place.objects, place.unfinished, place.space, "\(place.root)/coffer"] {
      run("rm", "-rf", missing)
      #expect(code { _ = try place.engine() } == .missing, "\(missing)")
    }
    #expect(place.names(place.root) == [])
    #expect(code { _ = try DirectoryEngine("\(place.root)/none", space: Place.space, .new) } == .missing)
    try place.write([], at: "\(place.root)/file")
    #expect(code { _ = try DirectoryEngine("\(place.root)/file", space: Place.space, .new) } == .notADirectory)
  }

  /// A copy of a tree may lack them.
  @Test func emptyDirectoriesOfALogAreMadeAgain() throws {
    let place = try Place()
    run("chmod", "2770", place.space)
    #expect(try place.engine().append(0, [1]) == .made)
    run("rmdir", place.objects, place.unfinished)
    let engine = try place.engine()
    #expect(try engine.append(1, [2]) == .made)
    try engine.put(ObjectName(of: [3]), [3])
    #expect(run("stat", "-c", "%a", place.objects, place.unfinished) == ["2770", "2770"])
    // Names of another form are no entries.
    run("sh", "-c", "rm -r '\(place.log)'/* '\(place.unfinished)'; touch '\(place.log)/x'")
    #expect(code { _ = try place.engine() } == .missing)
  }

  @Test func aPlaceIsMadeOnceAndKept() throws {
    let place = try Place()
    _ = try place.engine().append(0, [0])
    let again = try DirectoryEngine(place.root, space: Place.space, .new)
    #expect(try again.read(from: 0, limit: 500) == [NumberedEntry(0, [0])])
  }

  @Test func oldFilesOfKilledProcessesAreRemovedAndOthersStay() throws {
    let place = try Place()
    let names = [".0000000000000001.0123456789abcdef.new", ".0000000000000002.0123456789abcdef.new", "notes"]
    for name in names { try place.write([1], at: "\(place.unfinished)/\(name)") }
    run("touch", "-d", "25 hours ago", "\(place.unfinished)/\(names[0])", "\(place.unfinished)/\(names[2])")
    #expect(try place.engine().append(0, [0]) == .made)
    #expect(place.names(place.unfinished) == Array(names[1...]))
  }

  /// Two devices of one space, over the directory.
  @Test func devicesShareAnItem() throws {
    func identity(_ number: UInt8) throws -> DeviceIdentity {
      func seed(_ byte: UInt8) throws -> Secret { try Secret(testing: [UInt8](repeating: byte, count: 31) + [number]) }
      return try DeviceIdentity(signingSeed: seed(3), boxSeed: seed(4), person: "ada", name: "device \(number)")
    }
    let place = try Place()
    var first = try Replica(founding: identity(0), random: [UInt8](repeating: 9, count: 32), ValueKey())
    let engine = try DirectoryEngine(place.root, space: first.space, .new)
    try first.synchronise(with: engine) { _ in }
    let other = try identity(1)
    first.add(other.record(.member))
    try first.synchronise(with: engine) { _ in }
    let content = try ItemContent(Item(service: "service", account: "ada"), in: .standard, accessibility: .whenUnlocked)
    let secret = String(repeating: "long", count: 50_000)
    try first.write(content.tag, content: content, secret: LockedBytes(Secret(testing: secret)), at: 1)
    try first.synchronise(with: engine) { _ in }
    let welcome = try #require(Welcome(first))
    var second = try Replica(joining: other, welcome, DirectoryEngine(place.root, space: first.space), ValueKey())
    try second.synchronise(with: engine) { _ in }
    #expect(second.chain == first.chain && second.shown(EntityKey(.item, content.tag))?.exists == true)
    #expect(try engine.append(second.count - 1, [0]) == .taken)
  }
}
