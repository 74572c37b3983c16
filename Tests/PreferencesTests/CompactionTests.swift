import CofferPreferences
import CofferPropertyLists
import Testing

@Suite struct CompactionTests {
  let fixture: Fixture
  init() throws { fixture = try Fixture() }

  /// A compacted journal has several records with one sequence number.
  @Test func theNextProcessReadsAllOfAShortJournal() throws {
    do {
      let domain = try fixture.domain()
      for number in 0..<20 { try domain.set(.integer(Int64(number)), forKey: "key \(number)") }
      try domain.set(nil, forKey: "key 7")
      try domain.compact()
      try domain.set(.string("after"), forKey: "key 3")
    }
    let next = try fixture.domain()
    #expect(next.values().count == 19)
    #expect(next.value(forKey: "key 3") == .string("after"))
    #expect(next.value(forKey: "key 19") == .integer(19))
    #expect(next.value(forKey: "key 7") == nil)
  }
}
