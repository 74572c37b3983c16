import CofferStorage
import Testing
import VaultCore

@Suite struct RowsTests {
  @Test func committedRowsAreRead() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    try store.read { rows throws in
      #expect(try rows.header(0) == Array(repeating: 1, count: 256))
      #expect(try rows.header(1) == Array(repeating: 2, count: 160))
      #expect(try rows.header(2) == nil)
      #expect(try rows.headerKeys() == [0, 1])
      #expect(try rows.node([]) == Array(repeating: 3, count: 144))
      #expect(try rows.node([0]) == nil)
      #expect(try rows.record(Fixture.identifier(2)) == Fixture.record(2).head)
      #expect(try rows.secret(Fixture.identifier(2)) == Fixture.record(2).secret)
      #expect(try rows.secret(Fixture.identifier(9)) == nil)
      #expect(try rows.record(Fixture.identifier(9)) == nil)
    }
  }

  @Test(
    arguments: [([], [1, 2, 0xFF]), ([1], [1]), ([1, 1], [1]), ([0xFF], [0xFF]), ([3], []), ([1, 2], [])] as [([UInt8], [UInt8])])
  func recordsUnderAPrefix(prefix: [UInt8], expected: [UInt8]) throws {
    let fixture = try Fixture()
    var found: [RecordHead] = []
    try FileStore(at: fixture.path).read { rows in try rows.forEachRecord(under: prefix) { found.append(try $1.get()) } }
    #expect(found == expected.map { Fixture.record($0).head })
  }

  @Test func keysOfNodesAreCut() throws {
    let fixture = try Fixture()
    fixture.raw("INSERT INTO node VALUES(zeroblob(100),x'00'); INSERT INTO node VALUES(x'01',x'00')")
    var found: [[UInt8]] = []
    try FileStore(at: fixture.path).read { rows in try rows.forEachNode { found.append($0) } }
    #expect(found == [[], Array(repeating: 0, count: 17), [1]])
  }

  @Test func changesReplaceAndRemove() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    try store.commit { rows throws in
      #expect(try rows.record(Fixture.identifier(1)) != nil)
      var change = Change()
      change.header[1] = .some(nil)
      change.header[2] = [5]
      change.nodes[[]] = [6]
      change.records[Fixture.identifier(1)] = .some(nil)
      change.records[Fixture.identifier(9)] = .some(nil)
      let record = Fixture.record(2, count: 300)
      change.records[record.head.id] = record
      return change
    }
    try store.read { rows throws in
      #expect(try rows.headerKeys() == [0, 2])
      #expect(try rows.node([]) == [6])
      #expect(try rows.record(Fixture.identifier(1)) == nil)
      #expect(try rows.record(Fixture.identifier(2))?.secretCount == 300)
    }
  }

  @Test func iterationsMayBeNested() throws {
    let fixture = try Fixture()
    var pairs = 0
    try FileStore(at: fixture.path).read { rows throws in
      try rows.forEachRecord(under: []) { id, outer throws in
        try rows.forEachRecord(under: []) { _, _ in pairs += 1 }
        #expect(try rows.record(#require(id)) == outer.get())
      }
    }
    #expect(pairs == 9)
  }

  @Test func anErrorOfTheCallerIsPassedOnAndNothingIsWritten() throws {
    struct Own: Error, Equatable { let number: Int }
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    #expect(throws: Own(number: 1)) { try store.read { _ in throw Own(number: 1) } }
    #expect(throws: Own(number: 2)) { try store.commit { _ in throw Own(number: 2) } }
    // Out of the middle of an iteration: the statement is free again.
    for _ in 0..<3 {
      #expect(throws: Own(number: 3)) { try store.read { try $0.forEachRecord(under: []) { _, _ in throw Own(number: 3) } } }
    }
    try store.commit { _ in Change() }
    try store.commit { _ in Fixture.adding(4) }
    #expect(try store.recordCount() == 4)
  }

  @Test func rowsThatAReaderRefusesAreNotWritten() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    let changes: [(inout Change) -> Void] = [
      { $0.header[0] = Array(repeating: 1, count: 257) }, { $0.header[1] = Array(repeating: 0, count: 4257) },
      { $0.header[9] = Array(repeating: 0, count: 2049) },
      { $0.nodes[Array(repeating: 0, count: 18)] = [1] }, { $0.nodes[[]] = Array(repeating: 0, count: 196_609) },
      { $0.records[Fixture.identifier(1)] = Fixture.record(1, count: RecordHead.maximumFieldByteCount + 1) },
    ]
    for make in changes {
      let failure = code {
        try store.commit { _ in
          var change = Fixture.adding(8)
          make(&change)
          return change
        }
      }
      #expect(failure == .columnMismatch)
    }
    #expect(try store.recordCount() == 3)
  }

  @Test func theLargestRecordFits() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    let record = Fixture.record(5, count: RecordHead.maximumFieldByteCount)
    try store.commit { _ in
      var change = Change()
      change.records[record.head.id] = record
      return change
    }
    #expect(try store.read { try $0.record(record.head.id) } == record.head)
    #expect(try store.read { try $0.secret(record.head.id) } == record.secret)
  }

  @Test func nestingIsAProgrammingError() async {
    await #expect(processExitsWith: .failure) {
      let store = try FileStore(at: Fixture().path)
      try store.read { _ in try store.read { _ in } }
    }
  }
}
