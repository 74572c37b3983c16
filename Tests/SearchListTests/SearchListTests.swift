import CofferPreferences
import CofferPropertyLists
import Testing

/// A list with a domain in memory for each kind of entry.
final class MemoryList {
  let domains: [SearchEntry.Kind: VolatileDomain]
  let list: SearchList

  init() {
    var domains: [SearchEntry.Kind: VolatileDomain] = [:]
    var entries: [SearchEntry] = []
    for kind in SearchEntry.Kind.allCases {
      let domain = VolatileDomain()
      domains[kind] = domain
      entries.append(SearchEntry(kind, name: "\(kind)", domain: domain))
    }
    self.domains = domains
    list = SearchList(entries)
  }

  subscript(kind: SearchEntry.Kind) -> VolatileDomain { domains[kind] ?? VolatileDomain() }
}

@Suite struct SearchListTests {
  @Test("the first entry with a value counts, and the next when it is gone")
  func order() {
    let memory = MemoryList()
    let kinds = SearchEntry.Kind.allCases
    #expect(kinds.count == 13)
    for (place, kind) in kinds.enumerated() { memory[kind].set(.integer(Int64(place + 1)), forKey: "k") }
    for (place, kind) in kinds.enumerated() {
      #expect(memory.list.integer(forKey: "k") == place + 1)
      #expect(memory.list.value(forKey: "k") == .integer(Int64(place + 1)))
      #expect(memory.list.values()["k"] == .integer(Int64(place + 1)))
      #expect(memory.list.isForced("k") == (kind == .managed))
      memory[kind].set(nil, forKey: "k")
    }
    #expect(memory.list.value(forKey: "k") == nil)
    #expect(memory.list.values().isEmpty)
  }

  @Test("explain gives each entry with its value")
  func explain() {
    let memory = MemoryList()
    memory[.global].set(.boolean(true), forKey: "k")
    memory[.registration].set(.boolean(false), forKey: "k")
    let findings = memory.list.explain("k")
    #expect(findings.map(\.kind) == SearchEntry.Kind.allCases)
    #expect(findings.compactMap { $0.value }.count == 2)
    #expect(findings.first { $0.value != nil }?.kind == .global)
    #expect(findings.first { $0.value != nil }?.name == "global")
  }

  @Test func keysAreComparedByTheirBytes() {
    let memory = MemoryList()
    memory[.application].set(.integer(1), forKey: "caf\u{E9}")
    #expect(memory.list.integer(forKey: "cafe\u{301}") == 0)
    memory[.application].set(.integer(2), forKey: "cafe\u{301}")
    for _ in 0..<2 {
      #expect(memory.list.integer(forKey: "caf\u{E9}") == 1)
      #expect(memory.list.integer(forKey: "cafe\u{301}") == 2)
    }
  }

  @Test func manyKeysOfAllLengthsInOneCache() {
    let memory = MemoryList()
    let keys = (0..<3000).map { String(repeating: "k", count: $0 % 41) + String($0) } + [""]
    for (number, key) in keys.enumerated() { memory[.application].set(.integer(Int64(number)), forKey: key) }
    for _ in 0..<2 {
      for (number, key) in keys.enumerated() { #expect(memory.list.integer(forKey: key) == number) }
      #expect(memory.list.value(forKey: "no such key") == nil)
    }
  }

  @Test func typedReadsFollowTheType() {
    let memory = MemoryList()
    let application = memory[.application]
    for value in [PropertyListValue.string("12.5"), .integer(3), .real(2.5), .boolean(true), .unsigned(.max), .data([1])] {
      application.set(value, forKey: "k")
      for _ in 0..<2 {
        #expect(memory.list.integer(forKey: "k") == value.coercedToInteger)
        #expect(memory.list.double(forKey: "k") == value.coercedToDouble)
        #expect(memory.list.float(forKey: "k") == value.coercedToFloat)
        #expect(memory.list.bool(forKey: "k") == value.coercedToBool)
        #expect(memory.list.string(forKey: "k") == value.coercedToString)
      }
    }
  }

  @Test func anEditedListIsReadAnew() {
    let memory = MemoryList()
    memory[.registration].set(.integer(1), forKey: "k")
    #expect(memory.list.integer(forKey: "k") == 1)
    let suite = VolatileDomain()
    suite.set(.integer(2), forKey: "k")
    memory.list.edit { $0.insert(SearchEntry(.suite, name: "suite", domain: suite), at: 4) }
    #expect(memory.list.integer(forKey: "k") == 2)
    memory.list.edit { $0.remove(at: 4) }
    #expect(memory.list.integer(forKey: "k") == 1)
  }

  @Test func moreListsThanAThreadHasPlacesFor() {
    let lists = (0..<40).map { _ in MemoryList() }
    for (number, memory) in lists.enumerated() { memory[.application].set(.integer(Int64(number)), forKey: "k") }
    for _ in 0..<3 {
      for (number, memory) in lists.enumerated() { #expect(memory.list.integer(forKey: "k") == number) }
    }
  }

  @Test func aListThatIsGoneKeepsNoDomain() {
    weak var domain: VolatileDomain?
    do {
      let application = VolatileDomain()
      domain = application
      let list = SearchList([SearchEntry(.application, name: "a", domain: application)])
      #expect(list.value(forKey: "k") == nil)
      #expect(domain != nil)
    }
    #expect(domain == nil)
  }
}
