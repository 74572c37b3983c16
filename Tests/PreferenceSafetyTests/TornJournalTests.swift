import CofferPreferences
import CofferPropertyLists
import Glibc
import Testing

/// A journal that is truncated or damaged at any place.
@Suite struct TornJournalTests {
  /// A string would be equal to its other normal form.
  typealias Key = PropertyListDictionary.Key

  /// The content of the lock file: the memory that processes shared when it was written.
  enum Page: CaseIterable {
    case asLeft, ofAnotherBoot, missing
  }

  /// The files of a domain whose keys were each set once, and the end of each record in the journal.
  final class Sample {
    let place = Place()
    let journal: [UInt8]
    private let hasPlist: Bool
    let lock: [UInt8]
    /// In order, with the length of the journal after the record of each.
    private(set) var records: [(key: Key, value: PropertyListValue, end: Int)] = []
    private(set) var exported: Set<Key> = []

    /// - Parameter exporting: Exports the property list after this many values.
    init(exporting count: Int?) throws {
      var all = Self.values
      all.append(contentsOf: (0..<12).map { ("last-\($0)", .integer(Int64($0))) })
      let domain = try place.domain()
      for (index, (key, value)) in all.enumerated() {
        try domain.set(value, forKey: key)
        records.append((Key(key), value, Self.end(of: try #require(read(place.journal)))))
        guard index + 1 == count else { continue }
        try domain.checkpoint()
        exported = Set(records.map(\.key))
      }
      journal = Array(try #require(read(place.journal)).prefix(records.last?.end ?? 0))
      hasPlist = read(place.plist) != nil
      if hasPlist { _ = unsafe link(place.plist, "\(place.root)/plist") }
      lock = try #require(read(place.lock))
    }

    /// The end of the last record. The rest is preallocated for later ones.
    static func end(of journal: [UInt8]) -> Int {
      var end = 64
      while end + 8 <= journal.count {
        let count = (0..<4).reduce(0) { $0 | Int(journal[end + $1]) << (8 * $1) }
        guard count > 0 else { break }
        end += 8 + count
      }
      return end
    }

    static var values: [(String, PropertyListValue)] {
      var inner = PropertyListDictionary()
      inner["a"] = .integer(1)
      inner["b"] = .array([.string("x"), .boolean(false)])
      return [
        ("text", .string("Ärger 🎻")), ("empty", .string("")), ("yes", .boolean(true)), ("no", .boolean(false)),
        ("small", .integer(-1)), ("large", .integer(.max)), ("unsigned", .unsigned(.max)), ("real", .real(0.1)),
        ("infinite", .real(-.infinity)), ("date", .date(700_000_000.25)), ("data", .data(Array(0...255))), ("none", .data([])),
        ("array", .array([.integer(1), .string("two")])), ("dictionary", .dictionary(inner)), ("uid", .uid(7)),
        ("", .string("of the empty key")), ("e\u{301}", .string("decomposed")), ("é", .string("composed")),
        ("long", .string(String(repeating: "l", count: 600))), (String(repeating: "k", count: 300), .integer(5)),
      ]
    }

    /// Writes the files into an empty directory.
    func restore(_ journal: [UInt8], _ page: Page) {
      place.clear()
      write(journal, to: place.journal)
      // The file whose identity is in the journal.
      if hasPlist { _ = unsafe link("\(place.root)/plist", place.plist) }
      var lock = lock
      switch page {
      case .asLeft: write(lock, to: place.lock)
      case .ofAnotherBoot:
        lock[40] ^= 1
        write(lock, to: place.lock)
      case .missing: break
      }
    }

    /// Checks the values in a new process, and that a value set there can be read by the next.
    func check(_ expected: Set<Key>, lost: (Key) -> Bool, _ comment: String, isDeep: Bool = false) throws {
      let domain = try place.domain()
      let values = domain.values()
      for record in records {
        if expected.contains(record.key) {
          if values[record.key.name] != record.value { Issue.record("\(comment): \(record.key.name) is lost") }
        } else if let found = values[record.key.name], found != record.value {
          Issue.record("\(comment): \(record.key.name) is \(found)")
        }
        if !expected.contains(record.key), !lost(record.key) { Issue.record("\(comment): \(record.key.name)") }
      }
      #expect(values.count <= records.count)
      guard isDeep else { return }
      try domain.set(.string("after"), forKey: "after")
      try domain.checkpoint()
      let next = try place.domain().values()
      #expect(next["after"] == .string("after"), "\(comment)")
      for key in expected where next[key.name] != values[key.name] { Issue.record("\(comment): \(key.name) is lost later") }
      #expect(place.values()?["after"] == .string("after"), "\(comment)")
    }
  }

  @Test(arguments: [nil, 16]) func cutAtEveryByte(exporting: Int?) throws {
    let sample = try Sample(exporting: exporting)
    for length in 0...sample.journal.count {
      let pages = isLong ? Page.allCases : [Page.allCases[length % 3]]
      for page in pages {
        sample.restore(Array(sample.journal.prefix(length)), page)
        // Without its first records the salt is lost; the property list remains.
        let whole = Set(sample.records.filter { $0.end <= length }.map(\.key)).union(sample.exported)
        try sample.check(whole, lost: { _ in true }, "\(length) \(page)", isDeep: length % 16 == 0)
      }
    }
  }

  /// The records with their ranges.
  private func ranges(_ sample: Sample) -> [(key: Key, range: Range<Int>)] {
    var start = 64
    return sample.records.map { record in
      defer { start = record.end }
      return (record.key, start..<record.end)
    }
  }

  @Test("damage to one record spares the others", arguments: Page.allCases) func damagedRecord(page: Page) throws {
    let sample = try Sample(exporting: nil)
    let all = Set(sample.records.map(\.key))
    for (key, range) in ranges(sample).dropFirst() {
      let places = isLong ? Array(range) : [0, 4, 8, 16, 17, range.count / 2, range.count - 1].map { range.lowerBound + $0 }
      for (number, place) in places.enumerated() {
        var journal = sample.journal
        journal[place] ^= UInt8.random(in: 1...255)
        sample.restore(journal, page)
        try sample.check(all.subtracting([key]), lost: { $0 == key }, "\(key.name) at \(place)", isDeep: number == 0)
        #expect(try sample.place.domain().value(forKey: key.name) == nil, "the damage was not found")
        guard number == 0, key != sample.records.last?.key || page == .asLeft else { continue }
        // The damaged journal is kept.
        let kept = sample.place.names.filter { $0.hasPrefix("com.example.app.journal.corrupt-") }
        #expect(kept.count == 1, "\(key.name): \(sample.place.names)")
        if let name = kept.first { #expect(read("\(sample.place.path)/\(name)") == journal) }
      }
    }
  }

  @Test(arguments: Page.allCases) func aDamagedHeaderCostsNothing(page: Page) throws {
    let sample = try Sample(exporting: nil)
    let all = Set(sample.records.map(\.key))
    for place in stride(from: 0, to: 64, by: isLong ? 1 : 5) {
      var journal = sample.journal
      journal[place] ^= 0x55
      // A newer program would change the version, but then with a valid checksum.
      sample.restore(journal, page)
      try sample.check(all, lost: { _ in false }, "header at \(place)", isDeep: true)
      #expect(sample.place.names.contains { $0.hasPrefix("com.example.app.journal.corrupt-") })
    }
  }

  @Test func zerosForASectorCostOnlyWhatLayInIt() throws {
    for exporting in [nil, 16, 32] as [Int?] {
      let sample = try Sample(exporting: exporting)
      for sector in stride(from: 0, to: sample.journal.count, by: 512) {
        var journal = sample.journal
        let zeros = sector..<min(sector + 512, journal.count)
        for place in zeros { journal[place] = 0 }
        let hit = Set(ranges(sample).filter { $0.range.overlaps(zeros) }.map(\.key))
        for page in Page.allCases {
          sample.restore(journal, page)
          let all = Set(sample.records.map(\.key))
          try sample.check(
            all.subtracting(hit.subtracting(sample.exported)), lost: { hit.contains($0) }, "sector \(sector) \(page)",
            isDeep: true)
        }
      }
    }
  }

  /// No content of the file ends the program, or prevents it from writing.
  @Test func anyBytesAreNoReasonToCrash() throws {
    let sample = try Sample(exporting: 16)
    var random = SystemRandomNumberGenerator()
    for round in 0..<(isLong ? 20_000 : 300) {
      var journal = sample.journal
      for _ in 0..<Int.random(in: 1...40) {
        journal[Int.random(in: 0..<journal.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      sample.restore(journal, Page.allCases[round % 3])
      // The exported values are there with any journal.
      try sample.check(sample.exported, lost: { _ in true }, "round \(round)", isDeep: round % 10 == 0)
    }
  }

  /// The control: invalid records are detected.
  @Test func aForeignRecordIsNone() throws {
    let sample = try Sample(exporting: nil)
    let other = try Sample(exporting: nil)
    // The records of another journal after this one's header: valid in themselves, but with another salt.
    sample.restore(Array(sample.journal.prefix(64)) + other.journal.dropFirst(64), .missing)
    #expect(try sample.place.domain().values().count == 0)
  }
}
