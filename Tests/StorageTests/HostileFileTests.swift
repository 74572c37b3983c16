import CSQLite
import Children
import CofferStorage
import Glibc
import Testing
import VaultCore

/// Files that no SQLite ever wrote.
@Suite struct HostileFileTests {
  /// A journal that names a super-journal: SQLite deletes the named file once it has rolled back.
  @Test func aJournalDoesNotMakeUsDeleteAFile() throws {
    let fixture = try Fixture()
    let victim = "\(fixture.directory)/victim"
    Fixture.write(Array("precious".utf8), to: victim)
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    let name = Array(victim.utf8)
    var journal = magic + [0, 0, 0, 0, 0, 0, 0, 0]
    for number in [fixture.read().count / 4096, 512, 4096] { journal += Pages.big(number) }
    journal += [UInt8](repeating: 0, count: 512 - journal.count)
    journal += Pages.big(0x4000_0000 / 4096 + 1) + name
    journal += Pages.big(name.count) + Pages.big(name.reduce(0) { $0 + Int($1) }) + magic
    Fixture.write(journal, to: "\(fixture.path)-journal")
    #expect(code { _ = try FileStore(at: fixture.path) } == .storageDamaged)
    #expect(Fixture.read(victim) == Array("precious".utf8))
    #expect(try FileStore(at: fixture.path).recordCount() == 3)
  }

  @Test(.timeLimit(.minutes(60))) func aSchemaWithoutEndIsRefused() throws {
    let fixture = try Fixture()
    var pages = Pages(fixture.read())
    pages.loopSchema()
    fixture.write(pages.bytes)
    #expect(code { _ = try FileStore(at: fixture.path) } == .storageDamaged)
  }

  @Test(.timeLimit(.minutes(60)), arguments: ["rec", "node"])
  func aTableWithoutEndIsRefused(name: String) throws {
    let fixture = try Fixture()
    let zeros = [UInt8](repeating: 0, count: 16)
    var pages = Pages(fixture.read())
    let record: [[UInt8]] =
      switch name {
      case "rec": [zeros, zeros, zeros, [], zeros + zeros, []]
      default: [[0, 0, 0], [1]]
      }
    pages.loop(root: try #require(pages.root(name)), record)
    fixture.write(pages.bytes)
    let store = try FileStore(at: fixture.path)
    let refusal = code {
      try store.read { rows in
        switch name {
        case "rec": try rows.forEachRecord(under: []) { _, _ in }
        default: try rows.forEachNode { _ in }
        }
      }
    }
    #expect(refusal == .storageDamaged)
  }

  /// The file under a second name would be filled up to the reserve, and emptied on a full disk.
  @Test func aLockThatIsAnotherFileIsLeftAlone() throws {
    let fixture = try Fixture()
    let victim = "\(fixture.directory)/victim"
    Fixture.write(Array("precious".utf8), to: victim)
    run("rm", "\(fixture.path).lock")
    run("ln", victim, "\(fixture.path).lock")
    let store = try FileStore(at: fixture.path)
    #expect(code { try store.commit { _ in Fixture.adding(4) } } == .hardLink)
    #expect(Fixture.read(victim) == Array("precious".utf8))
    #expect(try store.recordCount() == 3)
  }

  /// Each name would have a log of its own, and the commits of one would be lost under the other.
  @Test func aVaultUnderTwoNamesIsReadButNotWritten() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    run("ln", fixture.path, "\(fixture.directory)/backup")
    #expect(code { try store.commit { _ in Fixture.adding(4) } } == .hardLink)
    #expect(try store.recordCount() == 3)
    #expect(try FileStore(at: "\(fixture.directory)/backup").recordCount() == 3)
    run("rm", "\(fixture.directory)/backup")
    try store.commit { _ in Fixture.adding(4) }
  }

  /// A reader that was stopped, say.
  @Test func closingDoesNotWaitForReaders() throws {
    let fixture = try Fixture()
    var writer: FileStore? = try FileStore(at: fixture.path)
    try writer?.commit { _ in Fixture.adding(4) }
    try FileStore(at: fixture.path).read { rows in
      _ = try rows.headerKeys()
      try writer?.commit { _ in Fixture.adding(5) }
      let taken = ContinuousClock().measure { writer = nil }
      #expect(taken < .seconds(120), "\(taken)")
    }
  }
}

/// The pages of a database, edited without SQLite.
private struct Pages {
  private(set) var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func big(_ number: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
  }

  /// The root page of a table or index, found by the record of the schema that ends in its statement.
  func root(_ name: String) -> Int? {
    for offset in 100..<4096 - 2 * name.utf8.count {
      let here = bytes[offset...]
      let twice = Array("\(name)\(name)".utf8)
      guard here.starts(with: twice), here.dropFirst(twice.count + 1).starts(with: Array("CREATE".utf8)) else { continue }
      return Int(bytes[offset + twice.count])
    }
    return nil
  }

  /// Values of up to 57 bytes, as blobs or, where `isText`, as text.
  private static func record(_ values: [[UInt8]], isText: Bool = false) -> [UInt8] {
    let body = values.flatMap { $0 }
    return [UInt8(values.count + 1)] + values.map { UInt8((isText ? 13 : 12) + 2 * $0.count) } + body
  }

  private mutating func append(_ kind: UInt8, _ cells: [[UInt8]], right: Int? = nil) -> Int {
    bytes += Self.page(kind, cells, right, start: 0)
    bytes.replaceSubrange(28..<32, with: Self.big(bytes.count / 4096))
    return bytes.count / 4096
  }

  private static func page(_ kind: UInt8, _ cells: [[UInt8]], _ right: Int?, start: Int) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: 4096)
    var end = page.count
    var pointers: [UInt8] = []
    for cell in cells {
      end -= cell.count
      page.replaceSubrange(end..<end + cell.count, with: cell)
      pointers += big(end, 2)
    }
    let head = [kind, 0, 0] + big(cells.count, 2) + big(end, 2) + [0] + (right.map { big($0) } ?? []) + pointers
    page.replaceSubrange(start..<start + head.count, with: head)
    return page
  }

  /// An index whose inner pages have one and the same child: 36 to the power of 12 ways down.
  mutating func loop(root: Int, _ values: [[UInt8]]) {
    let record = Self.record(values)
    let cell = [UInt8(record.count)] + record
    var child = append(0x0A, [cell])
    for _ in 0..<12 { child = append(0x02, Array(repeating: Self.big(child) + cell, count: 35), right: child) }
    bytes.replaceSubrange((root - 1) * 4096..<root * 4096, with: Self.page(0x02, [Self.big(child) + cell], child, start: 0))
  }

  /// The schema as it is, and then the row of an automatic index, without end.
  mutating func loopSchema() {
    guard let root = root("node") else { return }
    // The leaf of the first page goes elsewhere, with the same cells.
    let count = Int(bytes[103]) << 8 | Int(bytes[104])
    let cells = (0..<count).map { index -> [UInt8] in
      let start = Int(bytes[108 + 2 * index]) << 8 | Int(bytes[109 + 2 * index])
      let length = bytes[start] < 0x80 ? (1, Int(bytes[start])) : (2, Int(bytes[start] & 0x7F) << 7 | Int(bytes[start + 1]))
      return Array(bytes[start..<start + length.0 + 1 + length.1])
    }
    let first = append(0x0D, cells)
    let texts = ["index", "sqlite_autoindex_node_1", "node"].map { Array($0.utf8) }
    let record =
      [6] + texts.map { UInt8(13 + 2 * $0.count) } + [1, 0] + texts.flatMap { $0 } + [UInt8(root)]
    var child = append(0x0D, [[UInt8(record.count), 9] + record])
    for _ in 0..<12 { child = append(0x05, Array(repeating: Self.big(child) + [9], count: 300), right: child) }
    bytes.replaceSubrange(100..<4096, with: Self.page(0x05, [Self.big(first) + [5]], child, start: 100)[100...])
  }
}
